/**
 * That a turn is used: a sandbox which was begun for calls doesn't leave again for another process before one of them
 * had its turn. Otherwise a key could go round for ever, and nothing be done on it.
 *
 * Not promised: anything about the other calls that waited with that one. Which of several calls a use belongs to no
 * line says: it is taken for the one that waits longest.
 */
import { encodeName } from "../../locks/api/keys.ts"
import type { StateLine, TraceLine } from "../../trace/trace.ts"
import { Aftermath } from "./reading/aftermath.ts"
import type { Invariant } from "./reading/invariant.ts"
import { endedLife } from "./reading/leases.ts"

/** One stay of a key in one process. */
interface Stay {
  readonly token: number
  /** The calls that waited when the key came. */
  guests: ReadonlySet<number> | undefined
  isUsed: boolean
}

/** The uses that are asked for and have not begun, of each sandbox of each worker. */
class Guests {
  readonly #waiting = new Map<string, Set<number>>()

  take(line: TraceLine): void {
    const ended = endedLife(line)
    if (ended !== undefined)
      for (const name of this.#waiting.keys()) if (name.startsWith(`${ended} `)) this.#waiting.delete(name)
    if (line.kind === "call" && line.call === "use" && line.key !== undefined) {
      const calls = this.of(line.worker, line.key)
      if (line.edge === "began") calls.add(line.id)
      else calls.delete(line.id)
    } else if (isUse(line)) {
      const calls = this.of(line.worker, line.key)
      const [first] = calls
      if (first !== undefined) calls.delete(first)
    }
  }

  of(worker: string, key: string): Set<number> {
    const name = `${worker} ${key}`
    const calls = this.#waiting.get(name) ?? new Set()
    this.#waiting.set(name, calls)
    return calls
  }
}

const isUse = (line: TraceLine): line is Extract<TraceLine, { kind: "work" }> =>
  line.kind === "work" && line.work === "use" && line.edge === "began"

/** Nobody is handed a key in vain. */
export const turnsAreUsed: Invariant = {
  name: "turns are used",
  sentence:
    "A sandbox for which uses waited when its key came is handed over only once one has begun, unless a fault befell its process or all.",
  watch(found) {
    const aftermath = new Aftermath()
    const guests = new Guests()
    const stays = new Map<string, Stay>()
    const leaves = ({ worker, key, at }: StateLine, stay: Stay): void => {
      const waiting = guests.of(worker, key)
      const inVain = [...(stay.guests ?? [])].filter((id) => waiting.has(id))
      if (stay.isUsed || inVain.length === 0 || aftermath.explains(worker, encodeName(key), at)) return
      const message = `${worker} hands over ${key} before one of the ${inVain.length} uses that waited for it has begun`
      found({ key, workers: [worker], message })
    }
    return {
      line(line) {
        aftermath.take(line)
        guests.take(line)
        if (isUse(line)) {
          const stay = stays.get(`${line.worker} ${line.key}`)
          if (stay?.token === line.token) stay.isUsed = true
        }
        if (line.kind !== "state" || line.token === null) return
        const name = `${line.worker} ${line.key}`
        const { token, value, leaving } = line
        let stay = stays.get(name)
        if (stay?.token !== token) stays.set(name, (stay = { token, guests: undefined, isUsed: false }))
        if ("owning" in value) stay.guests ??= new Set(guests.of(line.worker, line.key))
        if (!("handingOff" in value)) return
        if (leaving === "handoff") leaves(line, stay)
        stay.isUsed = true // it leaves once
      },
    }
  },
}
