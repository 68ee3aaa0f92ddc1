/**
 * That everybody who waits has its turn: whoever stands in a record, as its waiter or in the line behind, sees each
 * other owner come once at most before it comes itself. Those that ask nobody to leave come behind those that do. Needs
 * `applied` lines.
 *
 * Not promised: an order where something befell somebody, or where a stranger, an operator, or a worker of another
 * release wrote: they may lose the line.
 */
import { encodeName } from "../../locks/api/keys.ts"
import type { AppliedLine, TraceLease } from "../../trace/trace.ts"
import { Aftermath } from "./reading/aftermath.ts"
import type { Invariant } from "./reading/invariant.ts"

/** One that waits for a key: whom it saw come while it stood in the record, and since it first did. */
interface QueuedProcess {
  /** It asks nobody to leave: those that do come before it, as often as they like. */
  readonly isQuiet: boolean
  standing: string[]
  readonly all: string[]
}

/** What one record says, and who asks. */
interface RecordQueue {
  lease: TraceLease | undefined
  readonly asking: Map<string, QueuedProcess>
}

/** One that is dropped from the line may be passed until it stands there again, but not for ever. */
const MOST = 4

/** Nobody is served twice while another waits. */
export const everybodysTurn: Invariant = {
  name: "everybody has a turn",
  sentence:
    "While one stands in a record that waits for its key no other becomes its owner twice, and none four times before it does, but for one that asks before one that only waits.",
  watch(found) {
    const records = new Map<string, RecordQueue>()
    const workers = new Map<string, string>()
    const aftermath = new Aftermath()
    let isMixed = false
    const isExplained = (id: string, { name, at }: AppliedLine): boolean =>
      aftermath.explains(workers.get(id) ?? id, name, at)
    const came = ({ asking }: RecordQueue, served: string, line: AppliedLine, asked: boolean): void => {
      for (const [id, { isQuiet, standing, all }] of asking) {
        if (isQuiet && asked) continue
        standing.push(served)
        all.push(served)
        const times = [timesIn(standing, served), timesIn(all, served)] as const
        if (isMixed || (times[0] !== 2 && times[1] !== MOST) || isExplained(served, line)) continue
        const message = `${served} has ${line.name} ${times[0] === 2 ? "twice" : `${MOST} times`} while ${id} waits for it`
        found({ workers: [workers.get(id) ?? id], message })
      }
    }
    return {
      line(line) {
        aftermath.take(line)
        if (line.kind === "fault" && line.fault === "clock") isMixed ||= (line.detail["release"] ?? "this") !== "this"
        if (line.kind === "lock") {
          workers.set(line.ownerId, line.worker)
          if (line.type === "GaveUp") records.get(encodeName(line.key))?.asking.delete(line.ownerId)
        }
        if (line.kind !== "applied" || line.area !== "leases") return
        const record = records.get(line.name) ?? { lease: undefined, asking: new Map() }
        records.set(line.name, record)
        const before = record.lease
        record.lease = line.lease
        const [stand, quiet] = [standingIn(line.lease), line.lease?.quiet ?? []]
        const served = line.lease?.ownerId ?? null
        const asked = served !== null && record.asking.get(served)?.isQuiet === false
        if (served !== null) record.asking.delete(served)
        for (const [id, asking] of record.asking) {
          if (isExplained(id, line)) record.asking.delete(id)
          else if (!(asking.isQuiet ? quiet : stand).includes(id)) asking.standing = []
        }
        if (served !== null && before?.ownerId !== served) came(record, served, line, asked)
        for (const id of stand) see(record, id, false)
        for (const id of quiet) see(record, id, true)
      },
    }
  },
}

/** One stands in the record. */
function see({ asking }: RecordQueue, id: string, isQuiet: boolean): void {
  if (asking.get(id)?.isQuiet !== isQuiet) asking.set(id, { isQuiet, standing: [], all: [] })
}

const timesIn = (served: readonly string[], id: string): number => served.filter((each) => each === id).length

function standingIn(lease: TraceLease | undefined): readonly string[] {
  const { waiterId = null, line = [] } = lease ?? {}
  return waiterId === null ? line : [waiterId, ...line]
}
