/**
 * That what was acknowledged as durable, or by a checkpoint that was asked for, had been stored by then. That it stays
 * stored, through every change of owner, is what `heads.ts` asks of all later writes; the two together are the second
 * promise.
 *
 * Not promised: to see that nothing had to be stored. Where no head is asked for after a checkpoint, its bytes are
 * taken to have been those of the head. So they are where one is asked for on a version that this process has replaced
 * already, by as many bytes: its answer was lost, and an old answer hides it. And so they are where the head that was
 * asked for is the tombstone of a removal, which is no checkpoint's: that shows once it took effect.
 */
import { encodeName } from "../../locks/api/keys.ts"
import type { AppliedLine, CallLine, RequestLine, TraceLine, WorkLine } from "../../trace/trace.ts"
import type { Invariant } from "./reading/invariant.ts"
import { endedLife } from "./reading/leases.ts"

/** A durable use, or a call for a checkpoint, that is under way. */
interface Use {
  readonly worker: string
  readonly key: string
  readonly what: "a durable use" | "a checkpoint"
  /** A use of the key has ended since the call began; what a checkpoint is to hold had been done by then. */
  hasRun: boolean
  /** The checkpoint that began after that. */
  checkpoint: { readonly id: number; ended: boolean } | undefined
  /** On which version a head was asked for after that checkpoint. */
  asked: string | undefined
  stored: boolean
}

/** The head that stands: who wrote it, what version it replaced, and how long it is. */
interface Standing {
  readonly worker: string
  readonly before: string
  readonly bytes: number | undefined
}

/** The durable uses of a trace that are under way, and those that were acknowledged before their head took effect. */
class DurableUses {
  readonly #open = new Map<string, Use>()
  /** Acknowledged, while the head was on its way. */
  readonly #early = new Set<Use>()
  /** By the name of a head. */
  readonly #standing = new Map<string, Standing>()
  /** How long what each worker asked for last is, by its name and the head's. */
  readonly #lengths = new Map<string, number | undefined>()

  begin({ worker, id, call, key = "" }: CallLine): void {
    const isUse = call === "use"
    this.#open.set(`${worker} ${id}`, {
      ...{ worker, key, what: isUse ? "a durable use" : "a checkpoint", hasRun: !isUse },
      ...{ checkpoint: undefined, asked: undefined, stored: false },
    })
  }

  end({ worker, id }: CallLine): Use | undefined {
    const use = this.#open.get(`${worker} ${id}`)
    this.#open.delete(`${worker} ${id}`)
    return use
  }

  /** It was acknowledged before the head that was asked for took effect: that has to be a tombstone. */
  early(use: Use): void {
    this.#early.add(use)
  }

  /** Those that were acknowledged early, and no tombstone took effect. */
  get unexcused(): Iterable<Use> {
    return this.#early
  }

  kill(worker: string): void {
    for (const [name, use] of this.#open) if (use.worker === worker) this.#open.delete(name)
  }

  work({ worker, key, work, edge, id }: WorkLine): void {
    for (const use of this.#of(worker, key)) {
      const { checkpoint } = use
      if (work === "use" && edge !== "began") use.hasRun = true
      if (work !== "checkpoint" || !use.hasRun) continue
      if (edge === "began") use.checkpoint = checkpoint?.ended ? checkpoint : { id, ended: false }
      else if (checkpoint?.id === id) use.checkpoint = edge === "ended" ? { id, ended: true } : undefined
    }
  }

  asked({ worker, op, area, name = "", generation, bytes }: RequestLine): void {
    if (op !== "put" || area !== "state") return
    this.#lengths.set(`${worker} ${name}`, bytes)
    const standing = this.#standing.get(name)
    const isThere = standing?.worker === worker && standing.before === generation && standing.bytes === bytes
    for (const use of named(this.#open.values(), worker, name)) {
      if (use.checkpoint?.ended !== true) continue
      use.asked = generation
      use.stored ||= isThere && bytes !== undefined
    }
  }

  applied({ worker, area, name, before, head }: AppliedLine): void {
    if (area !== "state" || worker === null) return
    if (head?.state === "removed")
      for (const use of named(this.#early, worker, name)) if (use.asked === before) this.#early.delete(use)
    this.#standing.set(name, { worker, before, bytes: this.#lengths.get(`${worker} ${name}`) })
    for (const use of named(this.#open.values(), worker, name)) if (use.asked === before) use.stored = true
  }

  #of(worker: string, key: string): readonly Use[] {
    return [...this.#open.values()].filter((use) => use.worker === worker && use.key === key)
  }
}

/** Those of a worker whose head has this name. */
const named = (uses: Iterable<Use>, worker: string, name: string | undefined): readonly Use[] =>
  [...uses].filter((use) => use.worker === worker && `${encodeName(use.key)}/head` === name)

/** Nothing is acknowledged that is not stored. */
export const acknowledgedIsStored: Invariant = {
  name: "acknowledged is stored",
  sentence:
    "A durable use is acknowledged only after a checkpoint that began when it had run, a call for a checkpoint after one that began later, and both after the head that was asked for with it took effect.",
  watch(found) {
    const uses = new DurableUses()
    const tell = ({ worker, key, what }: Use, before: string): void =>
      found({ key, workers: [worker], message: `${worker} acknowledges ${what} of ${key} before ${before}` })
    const judge = (use: Use): void => {
      const { hasRun, checkpoint, asked, stored } = use
      if (!hasRun || (checkpoint?.ended && (asked === undefined || stored))) return
      if (checkpoint?.ended) uses.early(use)
      else tell(use, "a checkpoint held it")
    }
    return {
      line(line: TraceLine) {
        const ended = endedLife(line)
        if (ended !== undefined) uses.kill(ended)
        if (line.kind === "work") uses.work(line)
        else if (line.kind === "request") uses.asked(line)
        else if (line.kind === "applied") uses.applied(line)
        else if (
          line.kind === "call" &&
          ((line.call === "use" && line.durable === true) || line.call === "checkpoint")
        ) {
          if (line.edge === "began") uses.begin(line)
          const use = line.edge === "began" ? undefined : uses.end(line)
          if (use !== undefined && line.edge === "ended") judge(use)
        }
      },
      end() {
        for (const use of uses.unexcused) tell(use, "its head took effect")
      },
    }
  },
}
