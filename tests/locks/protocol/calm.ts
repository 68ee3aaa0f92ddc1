/**
 * A world without faults: the network works, machines run, owners leave when they are asked to. There nobody may ever
 * lose a lease, every release is clean, and who waits without limit is served.
 */
import fc from "fast-check"
import { SeededRandom } from "../../../src/runtime/time/random.ts"
import { acquire, type ProcessModel } from "./process-model.ts"
import { type Sabotage, saboteur } from "./sabotage.ts"
import { World } from "./world.ts"

interface Calm {
  readonly store: "coarse" | "exact" | "none"
  readonly seed: number
  readonly ttls: readonly number[]
  /** How long an owner that is asked to leave takes to finish, in milliseconds. */
  readonly linger: number
  readonly moves: readonly (readonly [kind: number, who: number, how: number])[]
}

const scripts: fc.Arbitrary<Calm> = fc.record({
  store: fc.constantFrom("coarse", "exact", "none"),
  seed: fc.nat(2 ** 31 - 1),
  ttls: fc.array(fc.constantFrom(10_000, 12_000, 30_000), { minLength: 2, maxLength: 4 }),
  linger: fc.constantFrom(0, 0, 25_000),
  moves: fc.array(fc.tuple(fc.nat(9), fc.nat(7), fc.nat(999)), { minLength: 5, maxLength: 60, size: "max" }),
})

/** Plays a number of calm scripts; what went wrong first. */
export function calm(runs: number, seed: number, sabotage: Sabotage = {}): fc.RunDetails<[Calm]> {
  const holds = fc.property(scripts, (script) => run(script, sabotage))
  return fc.check(holds, { numRuns: runs, seed, endOnFailure: true })
}

function run({ store, seed, ttls, linger, moves }: Calm, sabotage: Sabotage): void {
  const random = new SeededRandom(seed)
  const spacing = store === "coarse" ? 1000 : 0
  const world = new World({ clock: store, spacing, draw: () => random.next(), twist: saboteur(sabotage) })
  const processes = ttls.map((ttl, i) => world.process(`p${i}`, { ttl }))
  for (const [kind, who, how] of moves) {
    const process = processes[who % processes.length]!
    if (kind < 3) world.send(process, acquire({ budgetMs: undefined, contention: "retry" }))
    else if (kind === 3) world.send(process, { type: "cancel" })
    else if (kind === 4) world.send(process, { type: "renew" })
    else pass(world, how * 5, linger)
  }
  for (let turns = 0; processes.some(({ phase }) => phase !== "idle"); turns++) {
    if (turns > 600) throw new Error(`after 5 minutes: ${processes.map(({ id, phase }) => `${id} is ${phase}`).join()}`)
    for (const process of processes) if (process.token !== undefined) world.send(process, { type: "release" })
    pass(world, 500, 0)
  }
  for (const process of processes) inspect(process)
}

/** Time goes by, and who is asked to leave finishes and leaves. */
function pass(world: World, ms: number, linger: number): void {
  for (let left = ms; left > 0; left -= 250) {
    world.advance(Math.min(left, 250))
    for (const process of world.processes)
      if (asked(process) && askedAt(process) + linger <= world.at) world.send(process, { type: "release" })
  }
}

const askedAt = ({ told }: ProcessModel): number =>
  told.findLast(({ event }) => event.type === "ReleaseRequested")?.at ?? 0

const asked = ({ types }: ProcessModel): boolean =>
  types.lastIndexOf("ReleaseRequested") > types.lastIndexOf("Acquired")

function inspect(process: ProcessModel): void {
  for (const event of process.events) {
    const unclean = event.type === "Released" && event.result !== "released"
    const failed = event.type === "GaveUp" && event.error._tag !== "LockCancelledError"
    if (event.type === "Lost" || unclean || failed) throw new Error(`${process.id}: ${JSON.stringify(event)}`)
  }
}
