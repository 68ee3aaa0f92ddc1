/** That every request is answered: every call within its budget, every waiter in its turn, every request once. */
import { encodeName } from "../../locks/api/keys.ts"
import { LINE_LIFE } from "../../locks/protocol/rules/line.ts"
import type { CallLine, LockLine, TraceLease, TraceLine } from "../../trace/trace.ts"
import { harmless } from "./reading/aftermath.ts"
import type { Invariant } from "./reading/invariant.ts"
import { endedLife, Strangers } from "./reading/leases.ts"

/** What a worker's clock may go wrong by, and what settling may take beyond a budget: turns of the event loop. */
const slowest = 1.06
const slackMs = 1000

/** Every call settles by its budget, as far as its process was running. */
export const withinBudget: Invariant = {
  name: "within budget",
  sentence:
    "Every call settles within its budget, however it settles, unless its process is stopped or killed meanwhile.",
  watch(found) {
    const open = new Map<number, CallLine>()
    const late = (line: CallLine, at: number): void => {
      const { worker, call, key, budget } = line
      const took = Math.round(at - line.at)
      if (budget === undefined || took <= budget * slowest + slackMs) return
      const what = `a ${call}${key === undefined ? "" : ` of ${key}`} by ${worker}`
      const message = `${what} has taken ${took} ms, with a budget of ${budget} ms`
      found({ ...(key !== undefined && { key }), workers: [worker], message })
    }
    return {
      line(line) {
        const ended = endedLife(line)
        if (ended !== undefined) for (const [id, { worker }] of open) if (worker === ended) open.delete(id)
        if (line.kind === "call" && line.edge === "began") open.set(line.id, line)
        else if (line.kind === "call") {
          const begun = open.get(line.id)
          if (begun !== undefined) late(begun, line.at)
          open.delete(line.id)
        } else if (line.kind === "fault" && stops.has(line.fault)) {
          for (const [id, { worker }] of open) if (worker === line.worker || line.worker === null) open.delete(id)
        } else if (line.kind === "work" && line.work === "use" && line.edge === "began") {
          // The budget of a use ends when its function begins; whose that is of several on one key, nobody can tell.
          for (const [id, { call, key, worker }] of open)
            if (call === "use" && key === line.key && worker === line.worker) open.delete(id)
        }
      },
      end(at) {
        for (const line of open.values()) late(line, at)
      },
    }
  },
}

/** Faults after which a process that lives on can't be expected to answer in time. */
const stops: ReadonlySet<string> = new Set(["pause", "suspend", "sleep", "stall", "resume"])

interface JudgedWait {
  readonly line: LockLine
  /** When the key last came to somebody else: others may be before it. */
  since: number
  /** Nothing went wrong in it so far. */
  calm: boolean
  /** One that is dead, or a stranger, stood before it: in a store that doesn't tell the time its mark is waited out. */
  behindDead: boolean
}

/**
 * Whom records name, and whether that owner leaves when it is asked: not one that is dead, a stranger, or put there by
 * one, nor one whose work doesn't end.
 */
class Owners {
  readonly #strangers = new Strangers()
  readonly #workers = new Map<string, string>()
  readonly #dead = new Set<string>()
  readonly #leases = new Map<string, TraceLease | undefined>()
  /** Workers by record whose work there doesn't end, and as long as they have the key. */
  readonly #stuck = new Map<string, string>()

  take(line: TraceLine): void {
    const ended = endedLife(line)
    if (ended !== undefined) this.#end(ended)
    if (line.kind === "lock") this.#workers.set(line.ownerId, line.worker)
    if (line.kind === "state") {
      const record = encodeName(line.key)
      if (isStuck(line.value)) this.#stuck.set(record, line.worker)
      else if (this.#stuck.get(record) === line.worker) this.#stuck.delete(record)
    }
    if (line.kind !== "applied" || line.area !== "leases") return
    this.#strangers.take(line)
    this.#leases.set(line.name, line.lease)
  }

  obeys(record: string): boolean {
    const { ownerId = null, token = null } = this.#leases.get(record) ?? {}
    if (this.#stuck.has(record)) return false
    return ownerId === null || (token !== null && !this.#dead.has(ownerId) && !this.#strangers.has(ownerId))
  }

  /** A wait that begins. */
  waiting(line: LockLine): JudgedWait {
    const calm = this.obeys(encodeName(line.key))
    return { line, since: line.at, calm, behindDead: this.hasDeadBefore(line) }
  }

  /** Whether one that asks no more, or a stranger, is to have the key before this one. */
  hasDeadBefore({ key, ownerId: id }: LockLine): boolean {
    const { waiterId = null, line = [], quiet = [] } = this.#leases.get(encodeName(key)) ?? {}
    const asking = [...(waiterId === null ? [] : [waiterId]), ...line, ...quiet]
    const before = asking.includes(id) ? asking.slice(0, asking.indexOf(id)) : asking
    return before.some((other) => this.#dead.has(other) || this.#strangers.has(other))
  }

  /** Whether it asks nobody to leave: then nobody has to. */
  isQuiet({ key, ownerId }: LockLine): boolean {
    return this.#leases.get(encodeName(key))?.quiet?.includes(ownerId) === true
  }

  #end(worker: string): void {
    for (const [id, of] of this.#workers) if (of === worker) this.#dead.add(id)
    for (const [record, of] of this.#stuck) if (of === worker) this.#stuck.delete(record)
  }
}

/** Faults that keep nobody from being served: what was struck is over, a process starts or leaves. */
const peaceful: ReadonlySet<string> = new Set([...harmless, "heal"])

/** Who waits calmly is served, within so many milliseconds. */
export const servedWithin = (patienceMs: number): Invariant => ({
  name: "waiters are served",
  sentence: `A live waiter that asks a live owner that obeys gets the key, or gives up, within ${patienceMs / 1000} s of the last turn without a fault.`,
  watch(found) {
    const waits = new Map<string, JudgedWait>()
    const owners = new Owners()
    const judge = ({ line, since, calm, behindDead }: JudgedWait, at: number): void => {
      const waited = Math.round(at - since)
      if (!calm || waited <= patienceMs + (behindDead ? LINE_LIFE : 0)) return
      const { key, worker } = line
      found({
        key,
        workers: [worker],
        message: `${worker} has waited for ${key} for ${waited} ms, and nothing went wrong`,
      })
    }
    return {
      line(line) {
        owners.take(line)
        const record = recordOf(line)
        if (record !== undefined && !owners.obeys(record))
          for (const wait of waits.values()) if (encodeName(wait.line.key) === record) wait.calm = false
        if (line.kind === "applied" && line.area === "leases")
          for (const wait of waits.values()) {
            wait.behindDead ||= owners.hasDeadBefore(wait.line)
            wait.calm &&= !owners.isQuiet(wait.line)
          }
        if (line.kind === "fault" && !peaceful.has(line.fault)) for (const wait of waits.values()) wait.calm = false
        if (line.kind !== "lock") return
        const name = `${line.ownerId} ${line.key}`
        const wait = waits.get(name)
        if (line.type === "Waiting") waits.set(name, wait ?? owners.waiting(line))
        else if (line.type === "Acquired" || line.type === "GaveUp") {
          if (wait !== undefined) judge(wait, line.at)
          waits.delete(name)
          // Its turn comes after those of others; that these are not too many is everybody's turn.
          for (const other of line.type === "Acquired" ? waits.values() : []) {
            if (other.line.key !== line.key) continue
            judge(other, line.at)
            other.since = line.at
            other.behindDead = owners.hasDeadBefore(other.line)
          }
        }
      },
      end(at) {
        for (const wait of waits.values()) judge(wait, at)
      },
    }
  },
})

/** Where it isn't known what owners take to leave. */
export const waitersAreServed: Invariant = servedWithin(180_000)

/** The record whose owner a line may have made one that doesn't leave. */
const recordOf = (line: TraceLine): string | undefined => {
  if (line.kind === "state") return encodeName(line.key)
  return line.kind === "applied" && line.area === "leases" ? line.name : undefined
}

const isStuck = (value: object): boolean => JSON.stringify(value).includes('"stuck"')

/** Nobody is asked twice for one waiter. */
export const oneRequest: Invariant = {
  name: "one request per waiter",
  sentence: "An owner is asked to leave no more often for a waiter than that one has marked itself.",
  watch(found) {
    const waits = new Map<string, number>()
    const marks = new Map<string, number>()
    const asked = new Map<string, number>()
    const marked = new Map<string, string>()
    const count = (counts: Map<string, number>, name: string): number => {
      const times = (counts.get(name) ?? 0) + 1
      counts.set(name, times)
      return times
    }
    return {
      line(line) {
        if (line.kind === "applied" && line.area === "leases") {
          const { waiterId = null, waiterNonce = "" } = line.lease ?? {}
          const mark = `${waiterId} ${waiterNonce}` // one may take the place of another of the same process
          if (waiterId !== null && marked.get(line.name) !== mark) count(marks, `${line.name} ${waiterId}`)
          marked.set(line.name, mark)
        }
        if (line.kind !== "lock") return
        const { key, ownerId, waiterId, worker, token } = line
        if (line.type === "Waiting") count(waits, `${key} ${ownerId}`)
        if (line.type !== "ReleaseRequested") return
        const times = count(asked, `${key} ${ownerId} ${token} ${waiterId}`)
        const waited = waits.get(`${key} ${waiterId}`) // undefined: a stranger, who doesn't tell
        // One whose answer was lost may give up before it knows that it waited: the store knows.
        const most = Math.max(waited ?? Infinity, marks.get(`${encodeName(key)} ${waiterId}`) ?? 0)
        if (times <= most) return
        found({
          key,
          workers: [worker],
          message: `${worker} is asked ${times} times for ${waiterId}, who waited ${most} times`,
        })
      },
    }
  },
}
