/** Where a search begins, and in which orders its processes may stand. */
import type { CheckSettings } from "./options.ts"
import { newProcess } from "./world/processes.ts"
import { EPOCH, noStranger, type World } from "./world/world.ts"

/** Nobody has done anything yet. */
export function firstWorld({ processes, attempts, record, rules, left }: CheckSettings): World {
  const none = { writes: 0, generation: "0" }
  const lease = record === "absent" ? { ...none, text: undefined } : { writes: 1, generation: "l@1", text: released() }
  return {
    ...{ at: 0, lease, head: { ...none, head: null }, mail: [], left },
    ...{ acknowledged: [], topToken: 0, stranger: noStranger, passed: [], born: 1 },
    processes: Array.from({ length: processes }, (_, index) => newProcess("pqr"[index]!, index, rules, 0, attempts)),
  }
}

/** What an owner left a minute ago. */
function released(): string {
  const before = EPOCH - 60_000
  const published = { ownerId: null, expiresAt: 0, waitingOwnerId: null, waiterExpiresAt: null, v: 1, needs: [] }
  const ended = { token: before, by: "before", how: "release", note: null }
  return JSON.stringify({ ...published, owner: null, waiter: null, ended, past: [], writtenAt: before / 1000 })
}

/** The orders in which processes may stand that are alike: those with the same clocks. */
export function ordersOf({ processes, rules }: CheckSettings): readonly (readonly number[])[] {
  const places = Array.from({ length: processes }, (_, index) => index)
  const alike = (index: number, other: number): boolean =>
    [rules.rates, rules.skews, rules.ttls].every((each) => each[index] === each[other])
  return permutations(places).filter((order) => order.every((index, place) => alike(index, place)))
}

function permutations(items: readonly number[]): readonly (readonly number[])[] {
  if (items.length <= 1) return [items]
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]))
}
