// A manager whose locks are made elsewhere: what it may not take for granted of them.
import { describe, expect, it } from "vitest"
import { StoreLock } from "../../src/mod.ts"
import { type Counter, counter, type Overrides, World } from "./world.ts"

/** What the head has had of writes by the end of two owners, the second of which was handed the key and only looks. */
async function headWrites(overrides: (world: World, id: string) => Overrides): Promise<number> {
  const world = new World()
  const sandbox: Counter = counter()
  const [a, b] = [
    await world.manager("a", sandbox, overrides(world, "a")),
    await world.manager("b", sandbox, overrides(world, "b")),
  ]
  await world.run(a.use(sandbox, "k", (state) => ++state.n))
  expect(await world.run(b.use(sandbox, "k", ({ n }) => n))).toBe(1)
  await world.end()
  return world.headWrites("counter/k")
}

/** In place of the store that managers of this world have. */
const elsewhere = ({ store, time }: World, id: string): Overrides => {
  const lockFactory = (key: string): StoreLock => new StoreLock(key, { store, clock: time, incarnation: { id } })
  return { store: undefined, lockFactory, checkpoints: store } as unknown as Overrides
}

describe("locks that are made elsewhere", () => {
  // Tests rule 12, rule 15: Without one exact clock every owner's token is in the head, and outgrows a deleted record.
  it("may be on any store: whoever is granted a key names itself in the head before it works", async () => {
    const spared = await headWrites(() => ({}))
    expect(await headWrites(elsewhere)).toBe(spared + 1)
  })
})
