/** That nothing is lost, or left lying about, without a reason. */
import { encodeName } from "../../locks/api/keys.ts"
import type { AppliedLine, LockLine, TraceLease, TraceLine } from "../../trace/trace.ts"
import { Aftermath } from "./reading/aftermath.ts"
import type { Invariant } from "./reading/invariant.ts"
import { endedLife } from "./reading/leases.ts"

/** A lease that is lost without a fault was lost by a bug. */
export const noNeedlessLoss: Invariant = {
  name: "no needless loss",
  sentence: "No lease is lost but by a fault that befell its holder, or all, or by a stranger's write to its record.",
  watch(found) {
    const aftermath = new Aftermath({ ofLeases: true })
    return {
      line(line) {
        aftermath.take(line)
        if (line.kind !== "lock" || line.type !== "Lost") return
        const { worker, key, at, error } = line
        if (aftermath.explains(worker, encodeName(key), at)) return
        found({
          key,
          workers: [worker],
          message: `${worker} loses ${key} though nothing befell it: ${error?.message ?? ""}`,
        })
      },
    }
  },
}

type LeaseWrite = AppliedLine & { readonly lease: TraceLease }

/** What each process hears of the store's time, which on some stores is that of its own machine. */
class StoreTimes {
  /** By how much it is ahead of the trace's; null where it tells none. */
  readonly #ahead = new Map<string, number | null>()

  take(line: TraceLine): void {
    if (line.kind !== "answer" || !timed.has(line.outcome)) return
    const { worker, storeTime, at } = line
    if (storeTime !== undefined) this.#ahead.set(worker, storeTime - at)
    else if (!this.#ahead.has(worker)) this.#ahead.set(worker, null)
  }

  /** When a time that this process has written is come: never where it had none to write. */
  comes(time: number, worker: string | null): number {
    const ahead = worker === null ? undefined : this.#ahead.get(worker)
    return ahead === null ? Infinity : time - (ahead ?? 0)
  }
}

/** The store's own answers. */
const timed: ReadonlySet<string> = new Set(["found", "unchanged", "absent", "applied", "refused"])

/** Who has a lease, and until when in true time. */
interface Term {
  readonly write: LeaseWrite
  readonly until: number
}

/** Somebody looks after every lease. */
export const noOrphans: Invariant = {
  name: "no orphaned lease",
  sentence:
    "No lease of a living process runs out without having been renewed or given up, unless a fault befell it, or its wait, whose place in the line was granted the key later.",
  watch(found) {
    const aftermath = new Aftermath({ ofLeases: true })
    const times = new StoreTimes()
    const terms = new Map<string, Term>()
    /** By incarnation, while it lives. */
    const workers = new Map<string, string>()
    /**
     * By incarnation and record: it gave up the key under a fault, so that its place in the line may stand there until
     * it is over.
     */
    const stranded = new Set<string>()
    const judge = ({ write, until }: Term, at: number): void => {
      const { lease, name } = write
      const worker = lease.ownerId === null ? undefined : workers.get(lease.ownerId)
      if (worker === undefined || until >= at || aftermath.explains(worker, name, until)) return
      if (write.worker !== worker && stranded.has(`${lease.ownerId} ${name}`)) return
      const late = Math.round(at - until)
      found({
        workers: [worker],
        message: `the lease of ${worker} on ${name} ran out ${late} ms ago, and nothing befell it`,
      })
    }
    /** Others carry a pair over as it stands: its time is that of who wrote it first. */
    const termOf = (write: LeaseWrite, before: Term | undefined): Term => {
      const { ownerId, expiresAt } = write.lease
      const last = before?.write.lease
      const isCarried = last?.ownerId === ownerId && last.expiresAt === expiresAt
      return { write, until: isCarried ? before!.until : times.comes(expiresAt, write.worker) }
    }
    const hear = ({ type, ownerId, worker, key, at }: LockLine): void => {
      const name = encodeName(key)
      if (type === "GaveUp" && aftermath.explains(worker, name, at)) stranded.add(`${ownerId} ${name}`)
      else if (type === "Acquired" || type === "GaveUp") stranded.delete(`${ownerId} ${name}`)
    }
    return {
      line(line) {
        times.take(line)
        aftermath.take(line)
        const ended = endedLife(line)
        if (ended !== undefined) for (const [id, worker] of workers) if (worker === ended) workers.delete(id)
        if (line.kind === "lock") {
          workers.set(line.ownerId, line.worker)
          hear(line)
        } else if (line.kind === "applied" && line.area === "leases") {
          const before = terms.get(line.name)
          if (before !== undefined && line.worker !== null) judge(before, line.at)
          if (line.lease !== undefined) terms.set(line.name, termOf(line as LeaseWrite, before))
          else terms.delete(line.name)
        }
      },
      end(at) {
        for (const term of terms.values()) judge(term, at)
      },
    }
  },
}

/** Who has left has left nothing. */
export const nothingLeft: Invariant = {
  name: "nothing left behind",
  sentence:
    "A manager that has drained or closed names itself in no record, neither as owner nor as waiter, unless it lost the key or a fault befell it then.",
  watch(found) {
    const aftermath = new Aftermath()
    const workers = new Map<string, string>()
    const left = new Set<string>()
    const leases = new Map<string, LeaseWrite>()
    /**
     * By incarnation and record: the last that it said of the key, and whether something explains that it is still in
     * there.
     */
    const last = new Map<string, boolean>()
    const said = ({ ownerId, worker, key, type, result, at }: LockLine): void => {
      const isLoss = type === "Lost" || result === "unknown" || result === "alreadyLost"
      const name = encodeName(key)
      last.set(`${ownerId} ${name}`, isLoss || aftermath.explains(worker, name, at))
    }
    const judge = ({ name, at }: LeaseWrite, id: string): void => {
      const worker = workers.get(id)
      if (worker === undefined || !left.has(worker)) return
      if (last.get(`${id} ${name}`) ?? aftermath.explains(worker, name, at)) return
      found({ workers: [worker], message: `${worker} has left, and is still in the record ${name}` })
    }
    return {
      line(line) {
        aftermath.take(line)
        const ended = endedLife(line)
        left.delete(ended ?? "")
        if (ended !== undefined) for (const [id, worker] of workers) if (worker === ended) workers.delete(id)
        if (line.kind === "lock") {
          workers.set(line.ownerId, line.worker)
          said(line)
        } else if (line.kind === "call" && (line.call === "drain" || line.call === "close")) {
          if (line.edge === "ended") left.add(line.worker)
        } else if (line.kind === "applied" && line.area === "leases") {
          if (line.lease === undefined) leases.delete(line.name)
          else leases.set(line.name, line as LeaseWrite)
        }
      },
      end() {
        for (const write of leases.values())
          for (const id of [write.lease.ownerId, write.lease.waiterId]) if (id !== null) judge(write, id)
      },
    }
  },
}
