// One statement on a SQLite database in memory. What SQLite keeps outside the database's image would not follow it to
// another process: so transactions that would span requests, attached files and temporary tables are refused.
//
// Not promised: a limit on how long a statement runs. SQLite runs on the event loop, so a statement that takes longer
// than the lease costs the worker the sandbox.
import { constants, DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"

/** What `POST /sandboxes/:key/query` is sent. */
export interface Query {
  readonly sql: string
  /** By position, or by name without its `:`. */
  readonly params?: readonly Param[] | Readonly<Record<string, Param>>
}

/** What JSON and SQLite both have. */
export type Param = string | number | null

/** What a statement gives: its rows, or how many it changed. */
export type Result = { readonly rows: readonly Row[] } | { readonly changes: number }
export type Row = Readonly<Record<string, unknown>>

/** The statement can't be run; the database is as it was. */
export class QueryError extends Error {}

/** A database of an image, or an empty one. */
export function open(image: Uint8Array | undefined): DatabaseSync {
  const db = new DatabaseSync(":memory:")
  if (image !== undefined) db.deserialize(image)
  else db.exec("begin immediate; commit") // writes the first page: without one, serialize begins a transaction itself
  db.setAuthorizer((action) => (refused.has(action) ? constants.SQLITE_DENY : constants.SQLITE_OK))
  return db
}

const refused: ReadonlySet<number> = new Set([
  constants.SQLITE_TRANSACTION,
  constants.SQLITE_SAVEPOINT,
  constants.SQLITE_ATTACH,
  constants.SQLITE_DETACH,
  constants.SQLITE_CREATE_TEMP_TABLE,
  constants.SQLITE_CREATE_TEMP_INDEX,
  constants.SQLITE_CREATE_TEMP_VIEW,
  constants.SQLITE_CREATE_TEMP_TRIGGER,
])

/**
 * Whether it surely changes nothing. A read that this doesn't see is answered when durable, which only takes longer.
 */
export const isRead = ({ sql }: Query): boolean => /^\s*(select|values|explain)\b/i.test(sql)

/** Runs one statement. Throws QueryError for whatever SQLite refuses. */
export function run(db: DatabaseSync, { sql, params = [] }: Query): Result {
  if (sql.includes("\0")) throw new QueryError("the text has a NUL character")
  if (isEmpty(sql)) throw new QueryError("the text has no statement")
  try {
    const statement = db.prepare(sql)
    refuseMore(statement, sql)
    return Array.isArray(params) ? results(statement, params) : results(statement, [params as Record<string, Param>])
  } catch (error) {
    throw new QueryError(messageOf(error), { cause: error })
  }
}

function results(statement: StatementSync, params: [Record<string, Param>] | readonly Param[]): Result {
  const given = params as SQLInputValue[]
  if (statement.columns().length > 0) return { rows: statement.all(...given) }
  return { changes: Number(statement.run(...given).changes) }
}

/** Comments and nothing else. Asked before SQLite is, as Deno 2.9 crashes on the statement that is made of nothing. */
const isEmpty = (sql: string): boolean => sql.replaceAll(/\/\*[^]*?(?:\*\/|$)|--[^\n]*|[\s;]+/g, "") === ""

/** SQLite compiles the first statement of a text and would let the rest fall under the table. */
function refuseMore(statement: StatementSync, sql: string): void {
  const rest = sql.trim().slice(statement.sourceSQL.trim().length).trim()
  if (!isEmpty(rest)) throw new QueryError(`one statement a request; this is a second one: ${rest}`)
}

function messageOf(error: unknown): string {
  const { message } = error as Error
  const denied = message === "not authorized" || message === "authorization denied"
  return denied ? `${message}: transactions, attached files, temporary tables and vacuum don't follow it` : message
}
