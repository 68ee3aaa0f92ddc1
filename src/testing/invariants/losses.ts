/** That nothing is lost, or left lying about, without a reason. */
import type { AppliedLine, FaultLine, TraceLease } from "../../inspector/trace.ts"
import { encodeName } from "../../locks/keys.ts"
import type { Invariant } from "./invariant.ts"
import { endedLife } from "./leases.ts"

/** How long a fault may have effects: a lease that wasn't renewed for it, a clock that is in doubt, a request in flight. */
const aftermathMs = 120_000

/** Faults, by whom they befell. */
class Faults {
  readonly #last = new Map<string | null, number>()

  /** How a clock goes is told as a fault, and is none. */
  note({ worker, fault, at }: FaultLine): void {
    if (fault !== "clock") this.#last.set(worker, at)
  }

  /** Whether something has befallen this worker, or everybody, lately. */
  explain(worker: string, at: number): boolean {
    return Math.max(this.#last.get(worker) ?? -Infinity, this.#last.get(null) ?? -Infinity) > at - aftermathMs
  }
}

/** A lease that is lost without a fault was lost by a bug. */
export const noNeedlessLoss: Invariant = {
  name: "no needless loss",
  sentence: "No lease is lost but by a fault that befell its holder, or all, or by a stranger's write to its record.",
  watch(found) {
    const faults = new Faults()
    const tampered = new Set<string>()
    return {
      line(line) {
        if (line.kind === "fault") faults.note(line)
        else if (line.kind === "applied" && line.worker === null) tampered.add(line.name)
        else if (line.kind === "lock" && line.type === "Lost") {
          const { worker, key, at, error } = line
          if (faults.explain(worker, at) || tampered.has(encodeName(key))) return
          found({
            key,
            workers: [worker],
            message: `${worker} loses ${key} though nothing befell it: ${error?.message ?? ""}`,
          })
        }
      },
    }
  },
}

type LeaseWrite = AppliedLine & { readonly lease: TraceLease }

/** Somebody looks after every lease. */
export const noOrphans: Invariant = {
  name: "no orphaned lease",
  sentence: "No lease of a living process runs out without having been renewed or given up, unless a fault befell it.",
  watch(found) {
    const faults = new Faults()
    const leases = new Map<string, LeaseWrite>()
    const workers = new Map<string, string>()
    /** A store that tells no time has none in its records either: there each process writes its own. */
    let isTimed: boolean | undefined
    const judge = ({ lease, name }: LeaseWrite, at: number): void => {
      if (isTimed === false) return
      const worker = lease.ownerId === null ? undefined : workers.get(lease.ownerId)
      if (worker === undefined || lease.expiresAt >= at || faults.explain(worker, at)) return
      const late = Math.round(at - lease.expiresAt)
      found({
        workers: [worker],
        message: `the lease of ${worker} on ${name} ran out ${late} ms ago, and nothing befell it`,
      })
    }
    return {
      line(line) {
        if (line.kind === "answer" && line.outcome === "applied") isTimed ||= line.storeTime !== undefined
        if (line.kind === "fault") faults.note(line)
        else if (line.kind === "lock") workers.set(line.ownerId, line.worker)
        else if (line.kind === "applied" && line.area === "leases") {
          const before = leases.get(line.name)
          if (before !== undefined && line.worker !== null) judge(before, line.at)
          if (line.lease !== undefined) leases.set(line.name, line as LeaseWrite)
          else leases.delete(line.name)
        }
      },
      end(at) {
        for (const lease of leases.values()) judge(lease, at)
      },
    }
  },
}

/** Who has left has left nothing. */
export const nothingLeft: Invariant = {
  name: "nothing left behind",
  sentence: "A manager that has drained or closed names itself in no record, neither as owner nor as waiter.",
  watch(found) {
    const workers = new Map<string, string>()
    const left = new Set<string>()
    const leases = new Map<string, LeaseWrite>()
    const unclean = new Set<string>()
    return {
      line(line) {
        left.delete(endedLife(line) ?? "")
        if (line.kind === "lock") {
          workers.set(line.ownerId, line.worker)
          if (line.type === "Lost" || line.result === "unknown" || line.result === "alreadyLost")
            unclean.add(line.ownerId)
        } else if (line.kind === "fault") {
          for (const [ownerId, worker] of workers) if (worker === line.worker) unclean.add(ownerId)
          if (line.worker === null) for (const ownerId of workers.keys()) unclean.add(ownerId)
        } else if (line.kind === "call" && (line.call === "drain" || line.call === "close")) {
          if (line.edge === "ended") left.add(line.worker)
        } else if (line.kind === "applied" && line.area === "leases" && line.lease !== undefined) {
          leases.set(line.name, line as LeaseWrite)
        }
      },
      end() {
        for (const { name, lease } of leases.values())
          for (const id of [lease.ownerId, lease.waiterId]) {
            const worker = id === null ? undefined : workers.get(id)
            if (id === null || worker === undefined || !left.has(worker) || unclean.has(id)) continue
            found({ workers: [worker], message: `${worker} has left, and is still in the record ${name}` })
          }
      },
    }
  },
}
