// The sandbox of this example: a SQLite database in memory whose image is the checkpoint, so that it follows its owner.
import type { DatabaseSync } from "node:sqlite"
import { bytes, defineSandbox, type SandboxDefinition } from "leasehold"
import { open } from "./sql.ts"

export const database: SandboxDefinition<DatabaseSync, Uint8Array> = defineSandbox({
  name: "sqlite",
  schema: bytes,
  restore: ({ checkpoint }) => open(checkpoint),
  checkpoint: (db) => db.serialize(),
  close: (db) => db.close(),
})
