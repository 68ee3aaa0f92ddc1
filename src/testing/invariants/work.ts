/**
 * How work ends: every restore by one close, every lease only when its work has settled, and one section after another.
 */
import type { TraceLine, TraceWork, WorkLine } from "../../trace/trace.ts"
import type { Invariant } from "./reading/invariant.ts"
import { endedLife } from "./reading/leases.ts"

/** The sections of work that are under way, of each worker. */
class OpenWork {
  readonly #open = new Map<number, WorkLine>()

  take(line: TraceLine): void {
    const ended = endedLife(line)
    if (ended !== undefined) {
      for (const [id, { worker }] of this.#open) if (worker === ended) this.#open.delete(id)
    } else if (line.kind === "work" && line.edge === "began") this.#open.set(line.id, line)
    else if (line.kind === "work") this.#open.delete(line.id)
  }

  of(worker: string, key: string): readonly WorkLine[] {
    return [...this.#open.values()].filter((line) => line.worker === worker && line.key === key)
  }
}

/** Nobody is given a key on which work goes on. */
export const settledBeforeRelease: Invariant = {
  name: "settled before release",
  sentence: "A key is released, or handed over, only when all work on it has ended, whatever its limits.",
  watch(found) {
    const open = new OpenWork()
    return {
      line(line) {
        open.take(line)
        const leaves = line.kind === "lock" && (line.type === "Granted" || line.type === "Released")
        if (!leaves || (line.result !== undefined && line.result === "alreadyLost")) return
        const { worker, key } = line
        for (const { work } of open.of(worker, key))
          found({ key, workers: [worker], message: `${worker} gives up ${key} while a ${work} goes on` })
      },
    }
  },
}

/** What comes before a run, or after it; all else goes on beside one. */
const outsideOfRun: ReadonlySet<TraceWork> = new Set(["restore", "migrate", "close"])

const mayMeet = (one: TraceWork, other: TraceWork): boolean =>
  (one === "run" && !outsideOfRun.has(other)) || (other === "run" && !outsideOfRun.has(one))

/** What shares the state does so in turns; a hook that was given up keeps its turn until it has ended. */
export const oneAtATime: Invariant = {
  name: "one at a time",
  sentence:
    "No section of work on a sandbox begins while another goes on in its process, but that run goes on beside uses and checkpoints.",
  watch(found) {
    const open = new OpenWork()
    return {
      line(line) {
        if (line.kind === "work" && line.edge === "began") {
          const { worker, key, work } = line
          for (const { work: other } of open.of(worker, key)) {
            if (mayMeet(work, other)) continue
            found({ key, workers: [worker], message: `${worker} begins a ${work} on ${key} while a ${other} goes on` })
          }
        }
        open.take(line)
      },
    }
  },
}

interface Restored {
  readonly line: WorkLine
  closes: number
}

/** What restore took is freed, once. */
export const oneClose: Invariant = {
  name: "one close per restore",
  sentence: "Every restore that gave a state is followed by exactly one close, unless its process is killed.",
  watch(found) {
    const restored = new Map<string, Restored>()
    const nameOf = ({ worker, key, token }: WorkLine): string => `${worker} ${key} ${token}`
    return {
      line(line) {
        const ended = endedLife(line)
        if (ended !== undefined) {
          for (const [name, { line: begun }] of restored) if (begun.worker === ended) restored.delete(name)
        } else if (line.kind === "work" && line.work === "restore" && line.edge === "ended") {
          restored.set(nameOf(line), { line, closes: 0 })
        } else if (line.kind === "work" && line.work === "close" && line.edge === "began") {
          const { key, worker } = line
          const own = restored.get(nameOf(line))
          if (own !== undefined && ++own.closes > 1)
            found({ key, workers: [worker], message: `${worker} closes ${key} ${own.closes} times` })
        }
      },
      end() {
        for (const { line, closes } of restored.values()) {
          const { worker, key } = line
          if (closes === 0)
            found({ key, workers: [worker], message: `${worker} never closes ${key}, restored at ${line.at}` })
        }
      },
    }
  },
}
