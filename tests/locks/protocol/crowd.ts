/**
 * An owner whose work takes long, and a crowd that asks for its key with little patience, on a store that takes one
 * write a second: each of them marks, gives up, erases its mark and comes again. The owner has its turn all the same.
 */
import { SeededRandom } from "../../../src/runtime/time/random.ts"
import { acquire } from "./process-model.ts"
import { World } from "./world.ts"

/** Plays one crowd. What went wrong, if anything did. */
export function crowd(seed: number): string | undefined {
  const random = new SeededRandom(seed)
  const world = new World({ draw: () => random.next() })
  const owner = world.owner("owner", { ttl: 6000 + Math.floor(random.next() * 5) * 1000 })
  const others = Array.from({ length: 3 + Math.floor(random.next() * 5) }, (_, i) => world.process(`p${i}`))
  for (let left = 90_000; left > 0; left -= 250) {
    for (const other of others)
      if (other.phase === "idle" && random.next() < 0.3) {
        const budgetMs = 4000 + Math.floor(random.next() * 3000)
        world.send(other, acquire({ budgetMs, contention: random.next() < 0.5 ? "retry" : "fail" }))
      }
    world.advance(250)
    if (owner.last("Lost") !== undefined) return `the owner was starved: ${owner.types.join(", ")}`
  }
  return undefined
}
