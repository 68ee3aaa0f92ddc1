/** The ledger's own judgement: what an acknowledgement says of the flag, in whatever order the answers come. */
import type { HookContext } from "leasehold"
import type { SimulatedWorker, SimulatedWorld } from "leasehold/testing"
import { expect, it } from "vitest"
import { type Ledger, setFlag } from "../../../src/testing/simulate/ledger.ts"

/** One worker whose uses run at once, and are answered when that is said. */
class Scene {
  readonly state: Ledger = { rows: [], padding: "", flag: 0 }
  readonly failures: string[] = []
  readonly #world = { fail: (why: string) => void this.failures.push(why) } as unknown as SimulatedWorld<Ledger, Ledger>

  /** Settles, once `answer` was called, as the use does. */
  sets(value: number): { readonly answer: () => Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<void>()
    const context = { lease: { isHeld: () => true } } as unknown as HookContext
    const use = async <A>(fn: (state: Ledger, context: HookContext) => A | Promise<A>): Promise<A> => {
      const made = await fn(this.state, context)
      await promise
      return made
    }
    const worker = { use } as unknown as SimulatedWorker<Ledger, Ledger>
    const set = setFlag(this.#world, worker, "k", value)
    return { answer: () => (resolve(), set) }
  }
}

it("the last use that is acknowledged decides on the flag, though an earlier one is answered after it", async () => {
  const scene = new Scene()
  const [early, late] = [scene.sets(0), scene.sets(1)]
  await late.answer()
  await early.answer()
  await scene.sets(0).answer() // each use looks before it sets
  expect(scene.failures).toEqual([])
  scene.state.flag = 1
  await scene.sets(0).answer()
  expect(scene.failures).toEqual(["the owner of k has the flag 1, acknowledged as 0"])
})
