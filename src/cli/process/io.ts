/**
 * What the command knows of the process that runs it, as a port: the environment, where its output goes, time. Commands
 * touch nothing else of the process but children and signals.
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
  /** From now on it is this that writes; for good, and the first that is given. */
  carriedBy?(carrier: Carrier): void
  readonly isTTY: boolean
  /** How wide a terminal is. */
  readonly columns?: number
}

/** Takes text to where it goes, so that this process never waits for a reader. */
export interface Carrier {
  /** Never throws and never waits. */
  write(text: string): void
  /** Settles once all is there, or will be without this process. Never rejects. */
  told(): Promise<void>
}

/** The process as commands see it. */
export interface Io {
  readonly env: Environment
  /** Throws InvalidConfigError where it has no path. */
  readonly cwd: string
  /** The user's own folder; undefined where the system knows none, as in a container whose user has no name. */
  readonly home: string | undefined
  readonly platform: string
  readonly clock: Clock
  readonly stdout: Sink
  readonly stderr: Sink
  /** What is given back only when the process ends, after the last word was said; without one with the action. */
  readonly untilEnd?: DisposableStack
}

/** The same, where it can be asked what became of the results. */
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
 * One of the streams of this process. That it can't be written to (its reader has left, its terminal is closed) is no
 * reason to end: what runs under a lease would lose it. The stream itself is made when something is said: `run` mostly
 * says nothing, and it takes milliseconds.
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

  /** Settles once what was given to be carried is on its way without this process. */
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

  /** Settles once all is written, with what went wrong. That its reader has heard enough isn't wrong. */
  async told(): Promise<Error | undefined> {
    await this.#written
    return (this.#trouble as { code?: unknown } | undefined)?.code === "EPIPE" ? undefined : this.#trouble
  }

  #open(): NodeJS.WriteStream {
    return (this.#stream ??= this.#make().on("error", () => {})) // each write hears of its own
  }
}
