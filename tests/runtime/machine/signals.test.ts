import { EventEmitter } from "node:events"
import process from "node:process"
import { describe, expect, it } from "vitest"
import { onShutdown, type SignalPort } from "../../../src/runtime/machine/signals.ts"
import { start } from "../programs.ts"

interface FakeProcess {
  readonly port: SignalPort
  readonly emitter: EventEmitter
  /** The codes that it ended with, or the signals that it ended by. */
  readonly exits: (number | string)[]
  readonly exited: Promise<void>
}

/** A process that notes its exits instead of ending. */
const fakeProcess = (): FakeProcess => {
  const emitter = new EventEmitter()
  const exits: (number | string)[] = []
  let exit = (): void => {}
  const exited = new Promise<void>((resolve) => (exit = resolve))
  const port: SignalPort = {
    on: (signal, listener) => void emitter.on(signal, listener),
    off: (signal, listener) => void emitter.off(signal, listener),
    exit: (code, by) => {
      exits.push(by ?? code)
      exit()
    },
  }
  return { port, emitter, exits, exited }
}

const listeners = (emitter: EventEmitter): number => emitter.listenerCount("SIGTERM") + emitter.listenerCount("SIGINT")

describe("shutdown", () => {
  it("runs every handler once, waits for all, and exits with 128 and the signal's number", async () => {
    const { port, emitter, exits, exited } = fakeProcess()
    const ran: string[] = []
    let finish = (): void => {}
    onShutdown((signal) => new Promise((resolve) => (finish = () => resolve(void ran.push(`slow ${signal}`)))), {
      port,
    })
    onShutdown((signal) => void ran.push(`quick ${signal}`), { port })
    emitter.emit("SIGTERM")
    await Promise.resolve()
    expect([ran, exits]).toEqual([["quick SIGTERM"], []])
    finish()
    await exited
    expect([ran, exits]).toEqual([["quick SIGTERM", "slow SIGTERM"], [143]])
  })

  // Tests stores: A drain with stuck work, and a second signal, end the process; nothing of that work is released.
  it("ends by the signal where a handler says that work is stuck, once all have finished", async () => {
    const { port, emitter, exits, exited } = fakeProcess()
    let finish = (): void => {}
    onShutdown(() => "stuck", { port })
    onShutdown(() => new Promise<void>((resolve) => (finish = resolve)), { port })
    emitter.emit("SIGTERM")
    await Promise.resolve()
    expect(exits).toEqual([])
    finish()
    await exited
    expect(exits).toEqual(["SIGTERM"])
  })

  it("ends by a second signal at once, also when its handlers took themselves out meanwhile", () => {
    const { port, emitter, exits } = fakeProcess()
    const registration = onShutdown(() => new Promise(() => {}), { port })
    emitter.emit("SIGTERM")
    registration[Symbol.dispose]()
    emitter.emit("SIGINT")
    expect(exits).toEqual(["SIGINT"])
  })

  it("reports a handler that throws or rejects, lets the others finish, and exits all the same", async () => {
    const { port, emitter, exits, exited } = fakeProcess()
    const errors: unknown[] = []
    let finished = false
    const onError = (error: unknown): void => void errors.push(error)
    onShutdown(() => Promise.reject(new Error("rejects")), { port, onError })
    onShutdown(
      () => {
        throw new Error("throws")
      },
      { port, onError },
    )
    onShutdown(() => void (finished = true), { port, onError })
    emitter.emit("SIGINT")
    await exited
    expect(errors.map(String).toSorted()).toEqual(["Error: rejects", "Error: throws"])
    expect([finished, exits]).toEqual([true, [130]])
  })

  it("listens only while there is a handler", () => {
    const { port, emitter } = fakeProcess()
    const registrations = [onShutdown(() => {}, { port }), onShutdown(() => {}, { port })]
    expect(listeners(emitter)).toBe(2)
    for (const registration of [...registrations, ...registrations]) registration[Symbol.dispose]()
    expect(listeners(emitter)).toBe(0)
    onShutdown(() => {}, { port })
    expect(listeners(emitter)).toBe(2)
  })
})

describe("a real process", () => {
  const signalled = async (manner: string, ...signals: NodeJS.Signals[]): Promise<string> => {
    const program = start("shutdown", { args: [manner] })
    await program.printed("ready")
    for (const signal of signals) {
      process.kill(program.child.pid!, signal)
      await program.printed("first SIG")
    }
    const { code, signal, stdout, stderr } = await program.ended
    return [code ?? signal, ...stdout.trim().split("\n"), stderr.split("\n")[0]].join("|")
  }

  it("finishes its handlers on SIGTERM and exits with 143", async () => {
    expect(await signalled("finish", "SIGTERM")).toBe("143|ready|first SIGTERM|second SIGTERM|first done|")
  })

  it("finishes its handlers on SIGINT and exits with 130", async () => {
    expect(await signalled("finish", "SIGINT")).toBe("130|ready|first SIGINT|second SIGINT|first done|")
  })

  // Tests stores.
  it("whose handler hangs ends by the second signal, when its listeners for the exit were called", async () => {
    expect(await signalled("hang", "SIGTERM", "SIGINT")).toBe("SIGINT|ready|first SIGTERM|second SIGTERM|exit 130|")
  })

  // Tests stores: A shutdown waits for the handlers of all copies of leasehold in the process.
  it("finishes the handlers of two copies of leasehold", async () => {
    const told = await signalled("twice", "SIGTERM")
    expect(told).toBe("143|ready|first SIGTERM|second SIGTERM|first done|slower done|")
  })

  it("whose handler fails reports it and exits with 143", async () => {
    expect(await signalled("fail", "SIGTERM")).toMatch(/^143\|ready\|first SIGTERM\|second SIGTERM\|.*handler failed/)
  })

  it("ends by itself when its handlers were taken out", async () => {
    const { code, signal, stdout } = await start("shutdown", { args: ["dispose"] }).ended
    expect([code, signal, stdout]).toEqual([0, null, "ready\n"])
  })
})
