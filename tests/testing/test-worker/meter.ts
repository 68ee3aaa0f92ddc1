/** The meter of docs/testing.md, for its examples in other files. */
import { defineSandbox, type SandboxDefinition } from "leasehold"
import * as z from "zod"

/** What it has counted, and saves. */
export interface Minutes {
  minutes: number
}

/** Counts a minute each minute. */
export const meter: SandboxDefinition<Minutes, Minutes> = defineSandbox({
  name: "meter",
  schema: z.object({ minutes: z.number() }),
  restore: ({ checkpoint }) => ({ minutes: checkpoint?.minutes ?? 0 }),
  async run(state, { clock, turn }) {
    for (;;) {
      await clock.sleep("1 min")
      await turn(() => void state.minutes++)
    }
  },
  checkpoint: ({ minutes }) => ({ minutes }),
})
