/**
 * The ledger's own judgement: what an acknowledgement says of the flag and of rows, in whatever order the answers come.
 */
import type { HookContext } from "leasehold"
import type { SimulatedWorker, SimulatedWorld } from "leasehold/testing"
import { expect, it } from "vitest"
import { add, type Ledger, remove, setFlag } from "../../../../src/testing/simulate/run/ledger.ts"

/** One worker whose uses run at once, and are answered when that is said. */
class Scene {
  readonly state: Ledger = { rows: [], padding: "", flag: 0 }
  readonly failures: string[] = []
  /** Chance decides for what is durable, and against all else. */
  readonly #world = {
    fail: (why: string) => void this.failures.push(why),
    random: { chance: (probability: number) => probability === 0.5, pick: <A>([first]: readonly A[]): A => first! },
  } as unknown as SimulatedWorld<Ledger, Ledger>

  /** Each settles, once `answer` was called, as the call does. */
  sets(value: number): Answerable {
    return this.#called((worker) => setFlag(this.#world, worker, "k", value))
  }

  /** Adds a row. */
  adds(): Answerable {
    return this.#called((worker) => add(this.#world, worker, "k"))
  }

  /** Removes the state. */
  removes(): Answerable {
    return this.#called((worker) => remove(this.#world, worker, "k"))
  }

  #called(call: (worker: SimulatedWorker<Ledger, Ledger>) => Promise<void>): Answerable {
    const { promise, resolve } = Promise.withResolvers<void>()
    const context = { lease: { isHeld: () => true } } as unknown as HookContext
    const use = async <A>(fn: (state: Ledger, context: HookContext) => A | Promise<A>): Promise<A> => {
      const made = await fn(this.state, context)
      await promise
      return made
    }
    const removed = async (): Promise<void> => {
      Object.assign(this.state, { rows: [], flag: 0 })
      await promise
    }
    const made = call({ use, remove: removed } as unknown as SimulatedWorker<Ledger, Ledger>)
    return { answer: () => (resolve(), made) }
  }
}

/** A call that has been made, and is answered when that is said. */
interface Answerable {
  readonly answer: () => Promise<void>
}

it("a row that is acknowledged only after it was removed needn't be there (seed 19448)", async () => {
  const scene = new Scene()
  const [late, removal] = [scene.adds(), scene.removes()]
  await removal.answer()
  await late.answer()
  await scene.adds().answer()
  expect(scene.failures).toEqual([])
  scene.state.rows.length = 0
  await scene.adds().answer()
  expect(scene.failures).toEqual(["the owner of k lacks acknowledged rows: 2"])
})

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
