// The rows of the job: which were sent, which the workers acknowledged, and what must therefore be found.
import type { DatabaseSync } from "node:sqlite"
import type { Param, Query } from "./sql.ts"

export const createTable: Query = { sql: "create table notes(id integer primary key, text text not null)" }
export const selectAll: Query = { sql: "select id, text from notes order by id" }

/** A write that takes a minute or more: for a worker that is to be killed in the middle of one. */
export const longInsert: Query = {
  sql: "with recursive c(n) as (select 1 union all select n + 1 from c where n < 2e8) insert into notes select -1, max(n) from c",
}

/** What a check found. */
export interface Finding {
  /** Acknowledged rows that are there. */
  readonly found: number
  readonly acknowledged: number
  /** Rows that are there without having been acknowledged: allowed. */
  readonly extra: number
  readonly problems: readonly string[]
}

export class Rows {
  readonly #sent = new Map<number, string>()
  readonly #acknowledged = new Set<number>()

  get acknowledged(): number {
    return this.#acknowledged.size
  }

  get unacknowledged(): number {
    return this.#sent.size - this.#acknowledged.size
  }

  /** Sends `count` new rows in one statement; they are acknowledged when that is answered. */
  async insert(count: number, send: (query: Query) => Promise<unknown>): Promise<void> {
    const ids = Array.from({ length: count }, (_, index) => this.#sent.size + index + 1)
    for (const id of ids) this.#sent.set(id, `note ${id}`)
    const params = ids.flatMap((id): Param[] => [id, `note ${id}`])
    await send({ sql: `insert into notes(id, text) values ${ids.map(() => "(?, ?)").join(", ")}`, params })
    for (const id of ids) this.#acknowledged.add(id)
  }

  /** Compares with what is there now. */
  check(rows: readonly unknown[]): Finding {
    const there = new Map((rows as { id: number; text: string }[]).map(({ id, text }) => [id, text]))
    const lost = [...this.#acknowledged].filter((id) => there.get(id) !== this.#sent.get(id))
    const foreign = [...there].filter(([id, text]) => this.#sent.get(id) !== text)
    const problems: string[] = []
    if (lost.length > 0) problems.push(`acknowledged rows that are not there: ${lost.join(", ")}`)
    if (foreign.length > 0) problems.push(`rows that nobody sent: ${foreign.map(([id]) => id).join(", ")}`)
    if (there.size < rows.length) problems.push(`rows that are there twice`)
    const found = this.#acknowledged.size - lost.length
    return { found, acknowledged: this.#acknowledged.size, extra: there.size - found, problems }
  }
}

/** The rows of a database of this process. */
export const rowsOf = (db: DatabaseSync): unknown[] => db.prepare(selectAll.sql).all()
