import { describe, expect, it } from "vitest"
import { ReentrantLockError, type Sandbox } from "../../src/mod.ts"
import { type Count, counter, World } from "./world.ts"

const inside = async (call: (sandbox: Sandbox<Count>, world: World) => Promise<unknown>): Promise<unknown> => {
  const world = new World()
  const definition = counter()
  const a = await world.manager("a", definition)
  const sandbox = await world.run(a.restoreSandbox(definition, "k"))
  const from = world.time.mono()
  let error: unknown
  await world.run(
    sandbox.use(async () => {
      error = await call(sandbox, world).then(
        () => "it settled",
        (reason: unknown) => reason,
      )
    }),
  )
  expect(world.time.mono()).toBe(from)
  expect(await world.run(sandbox.use((state) => ++state.n))).toBe(1)
  await world.end()
  return error
}

// Tests chart: Turns run one at a time in the order of calls; one that would wait for itself is refused.
describe("called from inside a turn of the same sandbox, ReentrantLockError at once", () => {
  it("use", async () => {
    expect(await inside((sandbox) => sandbox.use(() => 1))).toBeInstanceOf(ReentrantLockError)
  })

  // Tests input: A use may never end during a handoff; a use, checkpoint or release may come from inside a turn.
  it("manager.use, also by way of another sandbox's turn", async () => {
    const definition = counter()
    const world = new World()
    const a = await world.manager("a", definition)
    const call = a.use(definition, "one", () =>
      a.use(definition, "two", () => a.use(definition, "one", () => "never").catch((error: unknown) => error)),
    )
    expect(await world.run(call)).toBeInstanceOf(ReentrantLockError)
    await world.end()
  })

  it("checkpoint of the handle and of the manager", async () => {
    expect(await inside((sandbox) => sandbox.checkpoint())).toBeInstanceOf(ReentrantLockError)
    const definition = counter()
    const world = new World()
    const a = await world.manager("a", definition)
    const call = a.use(definition, "k", () => a.checkpointSandbox(definition, "k").catch((error: unknown) => error))
    expect(await world.run(call)).toBeInstanceOf(ReentrantLockError)
    await world.end()
  })

  it("release", async () => {
    expect(await inside((sandbox) => sandbox.release())).toBeInstanceOf(ReentrantLockError)
  })

  it("drain, remove and dispose", async () => {
    expect(await inside((_sandbox, { managers: [a] }) => a!.drain())).toBeInstanceOf(ReentrantLockError)
    expect(await inside((_sandbox, { managers: [a] }) => a![Symbol.asyncDispose]())).toBeInstanceOf(ReentrantLockError)
    const definition = counter()
    const world = new World()
    const a = await world.manager("a", definition)
    const call = a.use(definition, "k", () => a.remove(definition, "k").catch((error: unknown) => error))
    expect(await world.run(call)).toBeInstanceOf(ReentrantLockError)
    await world.end()
  })

  it("turn and checkpoint inside a turn of run", async () => {
    const world = new World()
    const errors: unknown[] = []
    const definition = counter({
      run: (_state, { turn, checkpoint }) =>
        turn(async () => {
          errors.push(await turn(() => 1).catch((error: unknown) => error))
          errors.push(await checkpoint().catch((error: unknown) => error))
        }),
    })
    const a = await world.manager("a", definition)
    await world.run(a.use(definition, "k", () => 0))
    expect(errors.map((error) => error instanceof ReentrantLockError)).toEqual([true, true])
    await world.end()
  })
})

describe("not reentrant", () => {
  it("are uses from run outside of a turn, siblings, and timers begun in a turn that has ended", async () => {
    const world = new World()
    const definition = counter()
    const a = await world.manager("a", definition)
    const sandbox = await world.run(a.restoreSandbox(definition, "k"))
    const later = Promise.withResolvers<number>()
    const first = sandbox.use((state) => {
      world.time.after(50, () => later.resolve(sandbox.use(({ n }) => n)))
      return ++state.n
    })
    const sibling = sandbox.use((state) => ++state.n)
    expect(await world.run(Promise.all([first, sibling, later.promise]))).toEqual([1, 2, 2])
    await world.end()
  })

  it("are uses of another sandbox", async () => {
    const world = new World()
    const definition = counter()
    const a = await world.manager("a", definition)
    const call = a.use(definition, "one", (one) => a.use(definition, "two", (two) => (one.n += ++two.n)))
    expect(await world.run(call)).toBe(1)
    await world.end()
  })
})
