/** What the locks of a manager's sandboxes ask their store, as lines of the manager's trace. */
import { sandboxLockKey } from "../../locks/api/keys.ts"
import type { RequestTap } from "../../locks/engine/request-taps.ts"
import type { LiveTrace } from "../../trace/live/live-trace.ts"

/** Whose requests are told. */
export interface TapParts {
  readonly trace: LiveTrace
  /** By name. */
  readonly definitions: ReadonlyMap<string, unknown>
}

/** Tells the trace of requests for keys of these definitions, while somebody reads it. Other locks of the process are no part of it. */
export const requestTap = ({ trace, definitions }: TapParts): RequestTap => {
  const prefixes = [...definitions.keys()].map((name) => sandboxLockKey(name, ""))
  return (key) => {
    const { lines } = trace
    if (lines === undefined || !prefixes.some((prefix) => key.startsWith(prefix))) return undefined
    return ({ store, op, ref, generation, bytes, deadline }) => {
      const answered = lines.sent(store, {
        ...{ op, ...ref },
        ...(generation !== undefined && { generation }),
        ...(bytes !== undefined && { bytes }),
        deadline,
      })
      return (came) => answered(came.kind === "threw" ? lines.rejected(came.error) : lines.cameOf(came))
    }
  }
}
