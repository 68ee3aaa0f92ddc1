/** The requests that the locks of a manager's sandboxes send, as lines of the manager's trace. */
import { sandboxLockKey } from "../../locks/api/keys.ts"
import type { RequestTap } from "../../locks/engine/request-taps.ts"
import type { LiveTrace } from "../../trace/live/live-trace.ts"

/** The trace, and the definitions whose requests are lines of it. */
export interface TapParts {
  readonly trace: LiveTrace
  /** By name. */
  readonly definitions: ReadonlyMap<string, unknown>
}

/**
 * Writes requests for keys of these definitions into the trace, while somebody reads it. Those of other locks of the
 * process are left out.
 */
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
