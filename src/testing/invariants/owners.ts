/** Who owns, and under which token: the first promise. */
import { encodeName } from "../../locks/api/keys.ts"
import type { AppliedLine, TraceLease, TraceLine } from "../../trace/trace.ts"
import type { Invariant } from "./reading/invariant.ts"
import { type Holding, Holdings, ROUNDING, Strangers } from "./reading/leases.ts"

/** What makes somebody believe that it holds a key, or that it goes on holding it. */
const holds: ReadonlySet<string> = new Set(["Acquired", "Renewed", "Recovered"])

/** Nobody acquires, or goes on with, a key that somebody else believes to hold. */
export const oneOwner: Invariant = {
  name: "one owner",
  sentence: "At any true time at most one process holds a key, but for an owner whose record was deleted by hand.",
  watch(found) {
    const holdings = new Holdings()
    const deleted = new Deleted()
    return {
      line(line) {
        holdings.take(line)
        deleted.take(line)
        if (line.kind !== "lock" || !holds.has(line.type)) return
        const { key, worker, at, ownerId, type } = line
        const holders = holdings.holders(key, at)
        const own = holders.find((holder) => holder.ownerId === ownerId)
        if (own === undefined) return
        for (const other of holders) {
          if (other === own || deleted.explains(own, other)) continue
          const left = Math.round(other.until - at)
          const message = `${worker} has ${key} (${type}) while ${other.worker} holds it for ${left} ms more`
          found({ key, workers: [other.worker, worker], message })
        }
      },
    }
  },
}

/**
 * The activations whose record was deleted by hand: there the promise of a lock ends, and that of a sandbox doesn't.
 */
class Deleted {
  /** Whom the record of a name named last, as whose activation. */
  readonly #last = new Map<string, { readonly ownerId: string | null; readonly token: number }>()
  /** The youngest activation of an owner whose record was deleted. */
  readonly #tokens = new Map<string, number>()

  take(line: TraceLine): void {
    if (line.kind !== "applied" || line.area !== "leases") return
    const { name, op, lease, worker } = line
    const last = this.#last.get(name)
    if (lease !== undefined) {
      const { ownerId, token } = lease
      const before = last?.ownerId === ownerId ? last.token : 0 // a stranger may drop the token
      this.#last.set(name, { ownerId, token: token ?? before })
    } else if (op === "remove" && worker === null && last !== undefined) {
      this.#tokens.set(`${name} ${last.ownerId}`, last.token)
    }
  }

  /** Whether one of two holds on by a record that was deleted, which its holder may hear of only later. */
  explains(one: Holding, other: Holding): boolean {
    return this.#has(one) || this.#has(other)
  }

  #has({ key, ownerId, token }: Holding): boolean {
    return token <= (this.#tokens.get(`${encodeName(key)} ${ownerId}`) ?? -1)
  }
}

/** Two are never at work, also where two believe to own since a record was deleted by hand: their heads decide. */
export const aloneAtWork: Invariant = {
  name: "alone at work",
  sentence: "No section of work but a close begins on a key that another process has begun to work on and still holds.",
  watch(found) {
    const holdings = new Holdings()
    const atWork = new WeakSet<Holding>()
    return {
      line(line) {
        holdings.take(line)
        if (line.kind !== "work" || line.edge !== "began" || line.work === "close") return
        const { worker, key, work, at } = line
        const own = holdings.of(worker, key)
        if (own !== undefined) atWork.add(own)
        for (const other of holdings.holders(key, at)) {
          if (other.worker === worker || !atWork.has(other)) continue
          const left = Math.round(other.until - at)
          const message = `${worker} begins a ${work} on ${key} while ${other.worker} is at work for ${left} ms more`
          found({ key, workers: [other.worker, worker], message })
        }
      },
    }
  },
}

/** What the versions of a record say of its owners' tokens, from its creation, or a stranger's last write, on. */
class RecordTokens {
  readonly #last = new Map<string, { readonly ownerId: string; readonly token: number; readonly top: number }>()

  /** The token that an owner should have been above, where it isn't. */
  take({ name, worker, lease }: AppliedLine): number | undefined {
    if (worker === null || lease === undefined) return void this.#last.delete(name)
    const { ownerId, token } = lease
    if (ownerId === null || token === null) return undefined
    const last = this.#last.get(name)
    const top = last?.top ?? -1
    this.#last.set(name, { ownerId, token, top: Math.max(top, token) })
    const isSame = last?.ownerId === ownerId && last.token === token
    return isSame || token > top ? undefined : top
  }
}

/**
 * Fencing tokens grow. Of its owners no more is asked once the record of a key was deleted by hand, which its heads'
 * `no old tokens` goes on to ask; of what the record says it is asked anew from each creation on.
 */
export const growingTokens: Invariant = {
  name: "growing tokens",
  sentence:
    "The fencing tokens of a key strictly grow with every change of owner, until its record is deleted by hand; and so they do in the record that is made then.",
  watch(found) {
    const last = new Map<string, { readonly token: number; readonly worker: string }>()
    const deleted = new Set<string>()
    const records = new RecordTokens()
    return {
      line(line) {
        if (line.kind === "applied" && line.area === "leases") {
          const top = records.take(line)
          const message = `${line.worker} writes token ${line.lease?.token} into ${line.name}, which had ${top}`
          if (top !== undefined) found({ workers: [line.worker!], message })
        }
        if (line.kind === "applied" && line.op === "remove" && line.area === "leases" && line.worker === null)
          deleted.add(line.name)
        if (line.kind !== "lock" || line.type !== "Acquired" || line.token === undefined) return
        const { key, worker, token } = line
        const before = last.get(key)
        // Right after a record was deleted by hand a token is only as good as its writer's sample of time: rule 12.
        if (before !== undefined && token <= before.token && !deleted.has(encodeName(key))) {
          const message = `${worker} acquires ${key} under token ${token}, and ${before.worker} had ${before.token}`
          found({ key, workers: [before.worker, worker], message })
        }
        last.set(key, { token: Math.max(token, before?.token ?? 0), worker })
      },
    }
  },
}

/** Nothing is begun without a lease. Not promised: that what was begun ends, once its signal has told it to. */
export const workUnderLease: Invariant = {
  name: "work under a lease",
  sentence: "No section of work but a close begins after the deadline of its lease, or without it.",
  watch(found) {
    const holdings = new Holdings()
    return {
      line(line) {
        holdings.take(line)
        if (line.kind !== "work" || line.edge !== "began" || line.work === "close") return
        const { worker, key, work, at } = line
        const holding = holdings.of(worker, key)
        if (holding === undefined) return // of a trace that doesn't tell of locks
        const late = Math.round(at - holding.until)
        if (holding.ended !== undefined && holding.ended < at)
          found({ key, workers: [worker], message: `${worker} begins a ${work} on ${key} when its lease has ended` })
        else if (late > 0)
          found({
            key,
            workers: [worker],
            message: `${worker} begins a ${work} on ${key} ${late} ms after its deadline`,
          })
      },
    }
  },
}

/** Nothing is sent without a lease: what is under way is fenced by its token, and what isn't yet needn't be. */
export const savesUnderLease: Invariant = {
  name: "saves under a lease",
  sentence: "No write of a head is sent after the deadline of its sender's lease, or without it.",
  watch(found) {
    const holdings = new Holdings()
    return {
      line(line) {
        holdings.take(line)
        if (line.kind !== "request" || line.op !== "put" || line.area !== "state") return
        const { worker, name = "", at } = line
        const holding = holdings.ofRecord(worker, name.replace(/\/head$/, ""))
        if (holding === undefined) return
        const late = Math.round(at - Math.min(holding.until, holding.ended ?? Infinity))
        if (late <= ROUNDING) return
        found({
          key: holding.key,
          workers: [worker],
          message: `${worker} sends ${name} ${late} ms after its lease has ended`,
        })
      },
    }
  },
}

/** A stranger's lease is a lease. */
export const strangersKeep: Invariant = {
  name: "strangers keep their keys",
  sentence: "No process writes itself into a record before the time is over until which a stranger owns the key.",
  watch(found) {
    const strangers = new Strangers()
    const last = new Map<string, TraceLease>()
    return {
      line(line) {
        if (line.kind !== "applied" || line.area !== "leases") return
        const { worker, name, lease, at } = line
        strangers.take(line)
        const before = last.get(name)
        if (lease === undefined) last.delete(name)
        else last.set(name, lease)
        if (worker === null || before === undefined || !strangers.has(before.ownerId)) return
        const left = Math.round(before.expiresAt - at)
        if (lease?.ownerId === before.ownerId || left <= ROUNDING) return
        found({
          workers: [worker],
          message: `${worker} takes ${name} from ${before.ownerId}, who has it for ${left} ms more`,
        })
      },
    }
  },
}
