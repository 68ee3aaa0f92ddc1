// A process that was stopped hears of the end of its lease late: code of the user begins, and goes on, by time.
import { describe, expect, it } from "vitest"
import type { SandboxManager } from "../../src/mod.ts"
import type { VirtualHost } from "../../src/runtime/time/virtual-host.ts"
import { counter, type Counter, failure, gate, World } from "./world.ts"

/** `a` is stopped as SIGSTOP does, until `b` has the key; then `a` goes on. */
const beside = async (world: World, host: VirtualHost, b: SandboxManager, sandbox: Counter): Promise<void> => {
  host.pause()
  await world.run(b.use(sandbox, "k", () => {}, { timeout: "2 min" }))
  await world.time.advance(5000)
  host.resume()
  await world.time.advance(2000)
}

/** What is over when the process goes on, before its clocks are compared, and looks at nothing itself. */
const later = (host: VirtualHost): Promise<void> => new Promise((resolve) => void host.after(300, resolve))

/** A sandbox whose hooks note what they do in `a`; what `b` does isn't asked. */
const stopped = async (make: (log: string[], host: VirtualHost) => Counter) => {
  const world = new World()
  const log: string[] = []
  const host = world.host("a")
  const sandbox = make(log, host)
  const plain = counter()
  const a = await world.manager("a", sandbox, { clock: host, restoreWithin: "5 min" })
  const b = await world.manager("b", plain)
  return { world, log, sandbox, host, a, stop: () => beside(world, host, b, plain) }
}

describe("in a process that was stopped until its lease was over", () => {
  // Tests chart: No hook but `close` begins past the deadline, also before any timer has fired.
  it("no turn of run begins, though it was next when the process went on", async () => {
    const going = gate()
    const { world, log, sandbox, host, a, stop } = await stopped((notes) =>
      counter({
        run: async (_state, { turn }) => {
          await going.promise
          await turn(() => void notes.push("turn")).catch((error: Error) => notes.push(error.name))
        },
      }),
    )
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const used = failure(
      handle.use(async () => {
        going.resolve()
        await later(host)
      }),
    )
    await world.time.advance(100)
    await stop()
    expect(await world.run(used)).toMatchObject({ _tag: "LockLostError" })
    expect(log).toEqual(["LockLostError"])
    await world.end()
  })

  // Tests chart: No turn and no `clock.sleep` resolves past the deadline.
  it("a turn that ends past the deadline doesn't resolve", async () => {
    const { world, log, sandbox, a, stop } = await stopped((notes, host) =>
      counter({
        run: async (_state, { turn }) => {
          await turn(() => later(host)).then(
            () => notes.push("resolved"),
            (error: Error) => notes.push(error.name),
          )
        },
      }),
    )
    await world.run(a.restoreSandbox(sandbox, "k"))
    await world.time.advance(100)
    await stop()
    expect(log).toEqual(["LockLostError"])
    await world.end()
  })

  it.each(["run", "use"])("no sleep of %s resolves", async (where) => {
    const { world, log, sandbox, a, stop } = await stopped((notes) => {
      const nap = async (_state: unknown, { clock }: { clock: { sleep: (ms: number) => Promise<void> } }) =>
        void (await clock.sleep(300).then(
          () => notes.push("resolved"),
          (error: Error) => notes.push(error.name),
        ))
      return counter(
        where === "run" ? { run: nap } : { run: async (state, context) => context.turn(() => nap(state, context)) },
      )
    })
    await world.run(a.restoreSandbox(sandbox, "k"))
    await world.time.advance(100)
    await stop()
    expect(log).toEqual(["LockLostError"])
    await world.end()
  })

  it("run doesn't begin after a restore that ended past the deadline", async () => {
    const { world, log, sandbox, a, stop } = await stopped((notes, host) =>
      counter({
        restore: async () => {
          await later(host)
          return { n: 0 }
        },
        run: async () => void notes.push("run"),
        close: () => void notes.push("close"),
      }),
    )
    const wanted = failure(a.restoreSandbox(sandbox, "k"))
    await world.time.advance(100)
    await stop()
    expect(await world.run(wanted)).toMatchObject({ _tag: "LockLostError" })
    expect(log).toEqual(["close"])
    await world.end()
  })

  it("no checkpoint is begun that waited for the turn of a use", async () => {
    const { world, log, sandbox, host, a, stop } = await stopped((notes) =>
      counter({
        checkpoint: ({ n }) => {
          notes.push("checkpoint")
          return { n }
        },
      }),
    )
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const used = failure(handle.use(() => later(host)))
    const saved = failure(handle.checkpoint())
    await world.time.advance(100)
    await stop()
    expect(await world.run(used)).toMatchObject({ _tag: "LockLostError" })
    expect(await world.run(saved)).toMatchObject({ _tag: "LockLostError" })
    expect(log).toEqual([])
    await world.end()
  })

  it("no use is begun that waited for the turn of another", async () => {
    const { world, log, sandbox, host, a, stop } = await stopped(() => counter())
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const first = failure(handle.use(() => later(host)))
    const second = failure(handle.use(() => void log.push("use")))
    await world.time.advance(100)
    await stop()
    expect(await world.run(first)).toMatchObject({ _tag: "LockLostError" })
    expect(await world.run(second)).toMatchObject({ _tag: "LockLostError" })
    expect(log).toEqual([])
    await world.end()
  })
})
