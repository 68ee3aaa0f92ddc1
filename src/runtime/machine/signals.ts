/**
 * Process signals and shutdown, on Node and on Deno: the first SIGTERM or SIGINT runs every handler once and then ends
 * the process with 128 + the signal's number. Copies of leasehold in one process wait for each other's handlers.
 *
 * An exit waits for threads that are inside a system call or native code, and renews no lease meanwhile. So where work
 * may still run, after a handler that says so and on a second signal, the process ends by the signal itself: the kernel
 * stops all threads at once, when the listeners for the exit have been called.
 *
 * Not promised: a limit on how long handlers take; the sender of the signal sets that, and kills. Process 1 of a
 * container can't end itself by a signal, nor can a program of Deno's without --allow-run: there the exit waits.
 */
import process from "node:process"
import { aFunction, anObject, type OptionChecks, refuseUnknown } from "../input/options.ts"
import { type OnError, reporter } from "../report.ts"
import { ofProcess } from "./of-process.ts"

/** The signals that ask a process to end. */
export type ShutdownSignal = "SIGTERM" | "SIGINT"

/**
 * Called once with the signal that ends the process. `"stuck"`: work of this process goes on, and must not outlast it.
 */
export type ShutdownHandler = (signal: ShutdownSignal) => Promise<"stuck" | void> | "stuck" | void

/** What shutdown needs of a process. */
export interface SignalPort {
  /** Listens. */
  on(signal: ShutdownSignal, listener: () => void): void
  /** Stops listening. */
  off(signal: ShutdownSignal, listener: () => void): void
  /** Ends the process with this code; `by` the signal where one is given, which waits for no thread. */
  exit(code: number, by?: ShutdownSignal): void
}

/** How a handler is registered. */
export interface ShutdownOptions {
  /** Gets what the handler throws or rejects with; the process ends all the same. */
  readonly onError?: OnError
  /** Default: this process. */
  readonly port?: SignalPort
}

/** This process, on either runtime. */
export const processSignals: SignalPort = {
  on: (signal, listener) => void process.on(signal, listener),
  off: (signal, listener) => void process.off(signal, listener),
  exit: (code, by) => {
    if (by !== undefined) process.on("exit", () => endBy(by))
    process.exit(code)
  },
}

/** Deno acts on a signal in a thread of its own, which has this long before the exit goes on. In milliseconds. */
const SIGNAL_TAKES = 1000

/** Does not return, unless this is process 1 of a container, or may not send signals (Deno without --allow-run). */
function endBy(signal: ShutdownSignal): void {
  process.removeAllListeners(signal)
  try {
    process.kill(process.pid, signal)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SIGNAL_TAKES)
  } catch {
    // Then the exit goes on.
  }
}

const numbers: Readonly<Record<ShutdownSignal, number>> = { SIGINT: 2, SIGTERM: 15 }

/** A handler that never rejects. */
type GuardedHandler = (signal: ShutdownSignal) => Promise<"stuck" | void>

/** One process's handlers; it listens only while there are any, or while they run. */
class Shutdown {
  readonly #port: SignalPort
  readonly #handlers = new Set<GuardedHandler>()
  readonly #listeners: readonly (readonly [ShutdownSignal, () => void])[]
  #begun = false

  constructor(port: SignalPort) {
    this.#port = port
    this.#listeners = [
      ["SIGTERM", () => this.#received("SIGTERM")],
      ["SIGINT", () => this.#received("SIGINT")],
    ]
  }

  add(handler: GuardedHandler): void {
    if (this.#handlers.size === 0 && !this.#begun)
      for (const [signal, listener] of this.#listeners) this.#port.on(signal, listener)
    this.#handlers.add(handler)
  }

  delete(handler: GuardedHandler): void {
    if (!this.#handlers.delete(handler) || this.#handlers.size > 0 || this.#begun) return
    for (const [signal, listener] of this.#listeners) this.#port.off(signal, listener)
  }

  #received(signal: ShutdownSignal): void {
    if (this.#begun) return this.#exit(signal, signal)
    this.#begun = true
    void Promise.all([...this.#handlers].map((handler) => handler(signal))).then((ends) =>
      this.#exit(signal, ends.includes("stuck") ? signal : undefined),
    )
  }

  #exit(signal: ShutdownSignal, by: ShutdownSignal | undefined): void {
    this.#port.exit(128 + numbers[signal], by)
  }
}

const shutdowns = new WeakMap<SignalPort, Shutdown>()

const shutdownOf = (port: SignalPort): Pick<Shutdown, "add" | "delete"> => {
  if (port === processSignals) return ofProcess("shutdown", () => new Shutdown(port))
  let shutdown = shutdowns.get(port)
  if (shutdown === undefined) {
    shutdown = new Shutdown(port)
    shutdowns.set(port, shutdown)
  }
  return shutdown
}

/** Every option of a shutdown. */
export const SHUTDOWN_OPTIONS: OptionChecks<ShutdownOptions> = {
  onError: aFunction,
  port: anObject("Give an object with on, off and exit, or leave it out for this process", "on", "off", "exit"),
}

/**
 * Runs the handler when the process is asked to end. Disposing takes the handler out; a shutdown that has begun goes
 * on. Throws InvalidConfigError.
 */
export const onShutdown = (handler: ShutdownHandler, options: ShutdownOptions = {}): Disposable => {
  aFunction("the handler of onShutdown", handler)
  refuseUnknown("onShutdown", options, SHUTDOWN_OPTIONS)
  const { port = processSignals, onError } = options
  const report = reporter(onError)
  const guarded: GuardedHandler = async (signal) => {
    try {
      return await handler(signal)
    } catch (error) {
      report(error)
    }
  }
  const shutdown = shutdownOf(port)
  shutdown.add(guarded)
  return { [Symbol.dispose]: () => shutdown.delete(guarded) }
}
