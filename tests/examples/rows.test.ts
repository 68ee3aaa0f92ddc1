import { describe, expect, it } from "vitest"
import { createTable, longInsert, Rows, rowsOf, selectAll } from "../../examples/sqlite-workers/rows.ts"
import { open, type Query, run } from "../../examples/sqlite-workers/sql.ts"

/** A database, and the rows that were sent to it: five that are acknowledged, and two that are not. */
async function sent(): Promise<{ db: ReturnType<typeof open>; rows: Rows }> {
  const db = open(undefined)
  const rows = new Rows()
  const send = async (query: Query): Promise<void> => void run(db, query)
  run(db, createTable)
  await rows.insert(2, send)
  await rows.insert(3, send)
  const late = async (query: Query): Promise<void> => {
    await send(query)
    throw new Error("no answer")
  }
  await expect(rows.insert(1, late)).rejects.toThrow("no answer")
  await expect(rows.insert(1, () => Promise.reject(new Error("never sent")))).rejects.toThrow("never sent")
  return { db, rows }
}

describe("the rows of the main job", () => {
  it("are all found where every acknowledged one is there, with or without the others", async () => {
    const { db, rows } = await sent()
    expect(rows).toMatchObject({ acknowledged: 5, unacknowledged: 2 })
    expect(rows.check(rowsOf(db))).toEqual({ found: 5, acknowledged: 5, extra: 1, problems: [] })
    run(db, { sql: "delete from notes where id = 6" })
    expect(rows.check(rowsOf(db))).toEqual({ found: 5, acknowledged: 5, extra: 0, problems: [] })
  })

  it("are not all found where an acknowledged one is lost or changed", async () => {
    const { db, rows } = await sent()
    run(db, { sql: "delete from notes where id = 2" })
    run(db, { sql: "update notes set text = 'another' where id = 4" })
    expect(rows.check(rowsOf(db))).toMatchObject({
      found: 3,
      acknowledged: 5,
      problems: ["acknowledged rows that are not there: 2, 4", "rows that nobody sent: 4"],
    })
  })

  it("are not those that nobody sent", async () => {
    const { db, rows } = await sent()
    run(db, { sql: "insert into notes(id, text) values(-1, 'x')" })
    expect(rows.check(rowsOf(db)).problems).toEqual(["rows that nobody sent: -1"])
  })

  it("can be read by a request as the driver reads them", async () => {
    const { db } = await sent()
    expect(run(db, selectAll)).toEqual({ rows: rowsOf(db) })
  })

  it("have a table that the long write fits", () => {
    const db = open(undefined)
    run(db, createTable)
    expect(() => run(db, { sql: `explain ${longInsert.sql}` })).not.toThrow()
  })
})
