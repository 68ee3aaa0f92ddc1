/** That a process which leaves in order takes nothing with it. */
import { encodeName } from "../../locks/api/keys.ts"
import type { StateLine } from "../../trace/trace.ts"
import { Aftermath } from "./reading/aftermath.ts"
import type { Invariant } from "./reading/invariant.ts"
import { endedLife } from "./reading/leases.ts"

/** Where the work has ended and the sandbox is still here. */
const leaving: ReadonlySet<string> = new Set(["queued", "checkpointing", "releasing"])
/** How it ends when its last state is stored and its lease released. */
const inOrder: ReadonlySet<string> = new Set(["clean", "handedOff"])

/** A state that has settled under a drain is stored by the end of it, and its lease released. */
export const drainsSave: Invariant = {
  name: "drains save",
  sentence:
    "A drain saves the last state of every sandbox whose work has ended, and releases it, unless a fault befell its process or all.",
  watch(found) {
    const aftermath = new Aftermath()
    /** What was seen last of each sandbox that leaves by a drain, by worker and key, from when its work has ended. */
    const settled = new Map<string, StateLine>()
    const judge = ({ worker, key }: StateLine, at: number, why: string): void => {
      if (aftermath.explains(worker, encodeName(key), at)) return
      found({ key, workers: [worker], message: `${worker} drains ${key}, and ${why}` })
    }
    return {
      line(line) {
        aftermath.take(line)
        const ended = endedLife(line)
        if (ended !== undefined) for (const [name, { worker }] of settled) if (worker === ended) settled.delete(name)
        if (line.kind === "state" && line.leaving === "drain") {
          const name = `${line.worker} ${line.key}`
          const { value } = line
          const hasSettled = settled.delete(name)
          if ("handingOff" in value && leaving.has(value.handingOff.work)) settled.set(name, line)
          if (hasSettled && "released" in value && !inOrder.has(value.released))
            judge(line, line.at, `it ends as ${value.released}: ${line.error?.message ?? "a limit was over"}`)
        } else if (line.kind === "call" && line.call === "drain" && line.edge === "ended") {
          for (const state of settled.values())
            if (state.worker === line.worker) judge(state, line.at, "the drain ends before it has left")
        }
      },
    }
  },
}
