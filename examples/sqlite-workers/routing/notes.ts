// The sandbox of the routing job: the SQLite database of the main job, asked by calls instead of closures. So a request
// that reaches a process which isn't the owner is sent on, and the database stays where it is.
import type { DatabaseSync } from "node:sqlite"
import { bytes, type CallMessage, defineSandbox, type Sandbox, type SandboxDefinition } from "leasehold"
import * as z from "zod"
import { open } from "../sql.ts"

/** One row of a client. */
export interface Note {
  readonly client: number
  readonly number: number
}

/** A row as it lies in the database, in the order of writing. */
export type Row = Note & { readonly place: number }

export interface NoteCalls {
  readonly write: CallMessage<Note, number>
  readonly rows: CallMessage<undefined, readonly Row[]>
}

const note = z.object({ client: z.number(), number: z.number() })

export const notes: SandboxDefinition<DatabaseSync, Uint8Array, Sandbox<DatabaseSync>, NoteCalls> = defineSandbox({
  name: "notes",
  schema: bytes,
  restore: ({ checkpoint }) => {
    const db = open(checkpoint)
    db.exec("create table if not exists notes(place integer primary key, client integer, number integer)")
    return db
  },
  checkpoint: (db) => db.serialize(),
  close: (db) => db.close(),
  calls: {
    /** Writes a row, and answers with how many there are. Nothing in the table keeps it from being there twice. */
    write: {
      durable: true,
      input: note,
      handle: (db, { client, number }) => {
        db.prepare("insert into notes(client, number) values (?, ?)").run(client, number)
        return Number(db.prepare("select count(*) as n from notes").get()?.["n"])
      },
    },
    rows: { readonly: true, handle: (db) => rowsOf(db) },
  },
})

/** All rows. */
export const rowsOf = (db: DatabaseSync): readonly Row[] =>
  db.prepare("select place, client, number from notes order by place").all() as unknown as readonly Row[]
