/** What chaos runs on: each key a list of rows, to which every use adds one. */
import * as z from "zod"
import { defineSandbox, type SandboxDefinition } from "../../src/mod.ts"

export interface Rows {
  readonly rows: string[]
}

export const ledger: SandboxDefinition<Rows, { rows: string[] }> = defineSandbox({
  name: "chaos",
  schema: z.object({ rows: z.array(z.string()) }),
  restore: ({ checkpoint }): Rows => ({ rows: checkpoint?.rows ?? [] }),
  checkpoint: ({ rows }) => ({ rows: [...rows] }),
})
