/**
 * The process as commands see it, as a port: environment, output, time. Beside it commands touch only child processes
 * and signals.
 */
import process from "node:process"
import { isatty } from "node:tty"
import { type Clock, liveClock } from "../../runtime/time/clock.ts"
import type { Environment } from "./bytes.ts"
import { homeFolder, workingDirectory } from "./here.ts"

/** Where text goes. */
export interface Sink {
  /** Never throws: what can't be written is lost. */
  write(text: string): void
  /** From now on the carrier writes. Only the first carrier counts, and it stays. */
  carriedBy?(carrier: Carrier): void
  readonly isTTY: boolean
  /** How wide a terminal is. */
  readonly columns?: number
}

/** Takes text to where it goes, so that this process never waits for a reader. */
export interface Carrier {
  /** Never throws and never waits. */
  write(text: string): void
  /** Settles once all text is there, or will get there without this process. Never rejects. */
  told(): Promise<void>
}

/** The process as commands see it. */
export interface Io {
  readonly env: Environment
  /** Throws InvalidConfigError where it has no path. */
  readonly cwd: string
  /** The user's home directory; undefined if the system knows none, as in a container whose user has no name. */
  readonly home: string | undefined
  readonly platform: string
  readonly clock: Clock
  readonly stdout: Sink
  readonly stderr: Sink
  /**
   * Disposed at the end of the process, after the last output. Without it such things are disposed with the action.
   */
  readonly untilEnd?: DisposableStack
}

/** The same of this process, which also tells whether its output was written. */
export interface ProcessIo extends Io {
  readonly stdout: ProcessSink
  readonly stderr: ProcessSink
  readonly untilEnd: DisposableStack
}

/** This process. */
export function processIo(home: () => string): ProcessIo {
  return {
    env: { ...process.env }, // Deno throws when one is asked for whose bytes are no UTF-8, and lists it not
    get cwd() {
      return workingDirectory()
    },
    get home() {
      return homeFolder(home)
    },
    platform: process.platform,
    clock: liveClock,
    stdout: new ProcessSink(() => process.stdout, 1),
    stderr: new ProcessSink(() => process.stderr, 2),
    untilEnd: new DisposableStack(),
  }
}

/**
 * One output stream of this process. A stream that can't be written to (its reader has ended, its terminal is closed)
 * ends nothing: a command that runs under a lease would lose it. The stream is made at its first use. That takes
 * milliseconds, and `run` mostly writes nothing.
 */
export class ProcessSink implements Sink {
  readonly isTTY: boolean
  readonly #make: () => NodeJS.WriteStream
  #stream: NodeJS.WriteStream | undefined
  #written: Promise<void> = Promise.resolve()
  #trouble: Error | undefined
  #carrier: Carrier | undefined

  constructor(make: () => NodeJS.WriteStream, descriptor: number) {
    this.#make = make
    this.isTTY = isatty(descriptor)
  }

  get columns(): number {
    return this.#open().columns || 80
  }

  carriedBy(carrier: Carrier): void {
    this.#carrier ??= carrier
  }

  /** Settles once the carrier needs this process no more. */
  async carried(): Promise<void> {
    await this.#carrier?.told()
  }

  write(text: string): void {
    if (this.#carrier !== undefined) return this.#carrier.write(text)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#written = promise
    const ended = (error?: Error | null): void => {
      this.#trouble ??= error ?? undefined
      resolve()
    }
    try {
      this.#open().write(text, ended)
    } catch (error) {
      ended(error as Error) // some runtimes throw what others tell later
    }
  }

  /** Settles once all is written, with the error if there was one. A reader that has ended is no error. */
  async told(): Promise<Error | undefined> {
    await this.#written
    return (this.#trouble as { code?: unknown } | undefined)?.code === "EPIPE" ? undefined : this.#trouble
  }

  #open(): NodeJS.WriteStream {
    return (this.#stream ??= this.#make().on("error", () => {})) // each write hears of its own
  }
}
