/** The ordered end of a process on a signal: its steps, their limits, and what becomes of their errors. */
import { EventEmitter } from "node:events"
import { describe, expect, it } from "vitest"
import {
  type AnsweringServer,
  drainOnSignals,
  type DrainOnSignalsOptions,
  InvalidConfigError,
} from "../../../src/mod.ts"
import type { ShutdownSignal, SignalPort } from "../../../src/runtime/machine/signals.ts"
import { counter, gate, World } from "../world.ts"

/** A process that can be asked to end. */
function processToEnd(): {
  port: SignalPort
  ask: (signal: ShutdownSignal) => void
  ended: Promise<number | string>
  isHeard: () => boolean
} {
  const listeners = new Map<ShutdownSignal, () => void>()
  const { promise: ended, resolve } = Promise.withResolvers<number | string>()
  const port: SignalPort = {
    on: (signal, listener) => void listeners.set(signal, listener),
    off: (signal) => void listeners.delete(signal),
    exit: (code, by) => resolve(by ?? code),
  }
  return { port, ask: (signal) => listeners.get(signal)!(), ended, isHeard: () => listeners.size > 0 }
}

class FakeAnswer extends EventEmitter {
  shouldKeepAlive = true
}

/** A server of node:http as far as its end goes. */
class FakeServer extends EventEmitter {
  readonly calls: string[] = []
  #closed = (): void => {}

  close(closed: () => void): void {
    this.calls.push("close")
    this.#closed = closed
  }

  closeIdleConnections(): void {
    this.calls.push("idle")
  }

  closeAllConnections(): void {
    this.calls.push("all")
    this.#closed()
  }

  request(): FakeAnswer {
    const answer = new FakeAnswer()
    this.emit("request", {}, answer)
    return answer
  }
}

const drainable = (drained: string[]) => ({
  drain: async () => {
    drained.push("drain")
    return { stuck: [] }
  },
})

describe("drainOnSignals", () => {
  it("drains on SIGTERM, tells how that went, and then ends the process", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    await world.run(a.use(sandbox, "k", (state) => (state.n = 4)))
    const { port, ask, ended } = processToEnd()
    const told: unknown[] = []
    using _signals = drainOnSignals(a, { port, grace: "20 s", onDrained: (result) => void told.push(result) })
    ask("SIGTERM")
    expect(await world.run(ended)).toBe(143)
    expect(told).toEqual([{ stuck: [] }])
    expect(await world.saved(sandbox, "k")).toEqual({ n: 4 })
    await world.end()
  })

  // Tests stores: A drain with stuck work, and a second signal, end the process; nothing of that work is released.
  it("ends the process by the signal where work is stuck, whose lease it keeps", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const going = gate()
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const use = handle.use(() => going.promise)
    const errors: unknown[] = []
    const { port, ask, ended } = processToEnd()
    const onDrained = ({ stuck }: { readonly stuck: readonly string[] }): never => {
      throw new Error(`stuck: ${stuck.join()}`)
    }
    using _signals = drainOnSignals(a, { port, grace: "20 s", onDrained, onError: (error) => void errors.push(error) })
    ask("SIGTERM")
    expect(await world.run(ended)).toBe("SIGTERM")
    expect(errors.map(String)).toEqual(["Error: stuck: counter/k"])
    expect(handle.lease.isHeld()).toBe(true)
    going.resolve()
    await world.run(use)
    await world.end()
  })

  it("takes its steps one after the other: onDraining, the drain, the servers, onDrained, the exit", async () => {
    const world = new World()
    const { port, ask, ended } = processToEnd()
    const steps: string[] = []
    const slow =
      (step: string) =>
      async (told?: unknown): Promise<void> => {
        steps.push(`${step}${typeof told === "string" ? ` ${told}` : ""}`)
        await new Promise<void>((resolve) => void world.time.after(1000, resolve))
        steps.push(`${step} over`)
      }
    using _signals = drainOnSignals(drainable(steps), {
      ...{ port, clock: world.time, onDraining: slow("draining"), onDrained: slow("drained") },
      servers: [slow("one"), { shutdown: slow("two") }],
    })
    ask("SIGINT")
    expect(steps).toEqual(["draining SIGINT"]) // at the signal itself
    expect(await world.run(ended)).toBe(130)
    expect(steps).toEqual([
      ...["draining SIGINT", "draining over", "drain"],
      ...["one", "two", "one over", "two over", "drained", "drained over"],
    ])
    expect(world.time.pendingTimers).toBe(0)
  })

  // Tests processes: No hook of a shutdown keeps the process for longer than its limit.
  it("takes no step that hangs for longer than stepWithin, and says which one did", async () => {
    const world = new World()
    const { port, ask, ended } = processToEnd()
    const errors: unknown[] = []
    const hangs = (): Promise<void> => new Promise(() => {})
    using _signals = drainOnSignals(drainable([]), {
      ...{ port, clock: world.time, onError: (error: unknown) => void errors.push(error) },
      ...{ onDraining: hangs, servers: [hangs, () => {}, hangs], onDrained: hangs, stepWithin: "2 s" },
    })
    const from = world.time.mono()
    ask("SIGTERM")
    expect(await world.run(ended)).toBe(143)
    expect(world.time.mono() - from).toBe(6000)
    const named = errors.map((error) => /while (\S+) still/.exec(String(error))?.[1])
    expect(named).toEqual(["onDraining", "servers[0]", "servers[2]", "onDrained"])
    expect(errors[0]).toMatchObject({ code: "LEASEHOLD_TIMEOUT", limitMs: 2000, source: "stepWithin" })
  })

  it("reports what a step throws, takes the next one, and waits for the other servers", async () => {
    const world = new World()
    const { port, ask, ended } = processToEnd()
    const errors: string[] = []
    let isOver = false
    const throws = (step: string) => (): never => {
      throw new Error(step)
    }
    using _signals = drainOnSignals(
      { drain: () => Promise.reject(new Error("drain")) },
      {
        ...{ port, clock: world.time, onError: (error: unknown) => void errors.push(String(error)) },
        onDraining: throws("draining"),
        servers: [
          throws("one"),
          () => new Promise<void>((resolve) => void world.time.after(1000, () => resolve(void (isOver = true)))),
        ],
        onDrained: throws("never called"),
      },
    )
    ask("SIGTERM")
    expect(await world.run(ended)).toBe(143)
    expect(errors).toEqual(["Error: draining", "Error: drain", "Error: one"])
    expect(isOver).toBe(true)
  })

  // Tests stores: A drain with stuck work, and a second signal, end the process; nothing of that work is released.
  it("ends the process at once on a second signal, whatever step it is at", async () => {
    const world = new World()
    const { port, ask, ended } = processToEnd()
    using _signals = drainOnSignals(drainable([]), { port, clock: world.time, onDrained: () => new Promise(() => {}) })
    ask("SIGTERM")
    await world.time.advance(10)
    ask("SIGINT")
    expect(await ended).toBe("SIGINT")
  })

  it("tells each client to close its connection from the signal on, and closes those without a request last", async () => {
    const world = new World()
    const { port, ask, ended } = processToEnd()
    const server = new FakeServer()
    const drained = gate()
    const manager = { drain: () => drained.promise.then(() => ({ stuck: [] })) }
    using _signals = drainOnSignals(manager, { port, clock: world.time, servers: [server] })
    const before = server.request()
    expect(before.shouldKeepAlive).toBe(true)
    ask("SIGTERM")
    const during = server.request()
    expect([before.shouldKeepAlive, during.shouldKeepAlive]).toEqual([false, false])
    await world.time.advance(1000)
    expect(server.calls).toEqual([]) // it takes connections until the drain is over
    drained.resolve()
    await world.time.advance(1000)
    expect(server.calls).toEqual(["close", "idle"])
    before.emit("close")
    await world.time.advance(1000)
    expect(server.calls).toEqual(["close", "idle", "idle"])
    during.emit("close")
    await world.time.advance(90)
    expect(server.calls).toEqual(["close", "idle", "idle", "idle"])
    const late = server.request() // on a connection that was taken before
    await world.time.advance(1000)
    expect(server.calls).not.toContain("all")
    late.emit("close")
    expect(await world.run(ended)).toBe(143)
    expect(server.calls.at(-1)).toBe("all")
  })

  it("leaves the signals and the servers alone once it is disposed", () => {
    const { port, isHeard } = processToEnd()
    const server = new FakeServer()
    const signals = drainOnSignals(drainable([]), { port, servers: [server] })
    expect([isHeard(), server.listenerCount("request")]).toEqual([true, 1])
    signals[Symbol.dispose]()
    expect([isHeard(), server.listenerCount("request")]).toEqual([false, 0])
  })

  it("refuses what is no server, and no option", () => {
    for (const servers of [{}, "server", [{}], [null], [{ shutdown: true }], [() => {}, { close() {} }]])
      expect(() => drainOnSignals(drainable([]), { servers: servers as AnsweringServer[] })).toThrow(InvalidConfigError)
    const named = { servers: [() => {}, {}] } as unknown as DrainOnSignalsOptions
    expect(() => drainOnSignals(drainable([]), named)).toThrow("servers[1]")
    expect(() => drainOnSignals(drainable([]), { server: [] } as DrainOnSignalsOptions)).toThrow(
      "server is no option of drainOnSignals",
    )
  })
})
