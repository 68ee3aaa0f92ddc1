import { describe, expect, it } from "vitest"
import { isRead, open, QueryError, run } from "../../examples/sqlite-workers/sql.ts"

const withNotes = (): ReturnType<typeof open> => {
  const db = open(undefined)
  run(db, { sql: "create table notes(id integer primary key, text)" })
  return db
}

describe("a statement on the database", () => {
  it("comes back whole from its image", () => {
    const db = withNotes()
    expect(run(db, { sql: "insert into notes(text) values(?), (?)", params: ["ä", null] })).toEqual({ changes: 2 })
    const copy = open(db.serialize())
    expect(run(copy, { sql: "select * from notes order by id" })).toEqual({
      rows: [
        { id: 1, text: "ä" },
        { id: 2, text: null },
      ],
    })
    expect(run(copy, { sql: "insert into notes(text) values(:text) returning id", params: { text: "b" } })).toEqual({
      rows: [{ id: 3 }],
    })
    expect(run(db, { sql: "select count(*) as n from notes" })).toEqual({ rows: [{ n: 2 }] })
  })

  it("may be the first one, on an image of nothing", () => {
    const image = open(undefined).serialize()
    expect(image.byteLength).toBeGreaterThan(0)
    expect(run(open(image), { sql: "create table t(a)" })).toEqual({ changes: 0 })
  })

  it.each([
    ["selec 1", "syntax error"],
    ["", "no statement"],
    ["-- nothing", "no statement"],
    ["/* */ ; /* nothing", "no statement"],
    ["\0select 1", "NUL"],
    ["select 1; select 2", "one statement a request"],
    ["select * from nowhere", "no such table"],
    ["insert into notes(id) values(?)", "column index out of range", [1, 2]],
    ["insert into notes(id) values(:id)", "Unknown named parameter", { no: 1 }],
    ["insert into notes(id) values('text')", "datatype mismatch"],
    ["select 9007199254740993", "too large"],
    ["begin", "don't follow it"],
    ["savepoint s", "don't follow it"],
    ["attach 'elsewhere.db' as elsewhere", "don't follow it"],
    ["vacuum into 'elsewhere.db'", "don't follow it"],
    ["create temp table t(a)", "don't follow it"],
  ] as const)("is as it was after a statement that can't be run: %s", (sql, reason, params: object = []) => {
    const db = withNotes()
    const before = db.serialize()
    const attempt = (): unknown => run(db, { sql, params: params as [] })
    expect(attempt).toThrow(QueryError)
    expect(attempt).toThrow(reason)
    expect(db.serialize()).toEqual(before)
    expect(db.isTransaction).toBe(false)
  })

  it("may be followed by what is none", () => {
    expect(run(open(undefined), { sql: "; select 1 as a; ; -- done" })).toEqual({ rows: [{ a: 1 }] })
  })

  it("takes for a read only what can't write", () => {
    for (const sql of ["select 1", "\n SELECT 1", "values (1)", "explain delete from notes"])
      expect(isRead({ sql })).toBe(true)
    for (const sql of ["insert into t values(1)", "with x as (select 1) insert into t select * from x", "selective"])
      expect(isRead({ sql })).toBe(false)
    expect(isRead({ sql: "pragma user_version = 5" })).toBe(false)
  })
})
