import { EventEmitter } from "node:events"
import process from "node:process"
import { describe, expect, it } from "vitest"
import { onShutdown, type SignalPort } from "../../src/runtime/signals.ts"
import { start } from "./programs.ts"

/** A process that notes its exits instead of ending. */
const fakeProcess = (): { port: SignalPort; emitter: EventEmitter; exits: number[]; exited: Promise<void> } => {
  const emitter = new EventEmitter()
  const exits: number[] = []
  let exit = (): void => {}
  const exited = new Promise<void>((resolve) => (exit = resolve))
  const port: SignalPort = {
    on: (signal, listener) => void emitter.on(signal, listener),
    off: (signal, listener) => void emitter.off(signal, listener),
    exit: (code) => {
      exits.push(code)
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

  it("exits at once on a second signal, also when its handlers took themselves out meanwhile", () => {
    const { port, emitter, exits } = fakeProcess()
    const registration = onShutdown(() => new Promise(() => {}), { port })
    emitter.emit("SIGTERM")
    registration[Symbol.dispose]()
    emitter.emit("SIGINT")
    expect(exits).toEqual([130])
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

describe("a real process", { timeout: 60_000 }, () => {
  const signalled = async (manner: string, ...signals: NodeJS.Signals[]): Promise<string> => {
    const program = start("shutdown", { args: [manner] })
    await program.printed("ready")
    for (const signal of signals) {
      process.kill(program.child.pid!, signal)
      await program.printed("first SIG")
    }
    const { code, stdout, stderr } = await program.ended
    return [code, ...stdout.trim().split("\n"), stderr.split("\n")[0]].join("|")
  }

  it("finishes its handlers on SIGTERM and exits with 143", async () => {
    expect(await signalled("finish", "SIGTERM")).toBe("143|ready|first SIGTERM|second SIGTERM|first done|")
  })

  it("finishes its handlers on SIGINT and exits with 130", async () => {
    expect(await signalled("finish", "SIGINT")).toBe("130|ready|first SIGINT|second SIGINT|first done|")
  })

  it("whose handler hangs ends on the second signal", async () => {
    expect(await signalled("hang", "SIGTERM", "SIGINT")).toBe("130|ready|first SIGTERM|second SIGTERM|")
  })

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
