/**
 * What the command knows of the process that runs it, as a port: the environment, where its output goes, time. Commands
 * touch nothing else of the process but children and signals.
 */
import process from "node:process"
import { isatty } from "node:tty"
import { type Clock, liveClock } from "../runtime/clock.ts"

/** Where text goes. */
export interface Sink {
  write(text: string): void
  readonly isTTY: boolean
  /** How wide a terminal is. */
  readonly columns?: number
}

/** The process as commands see it. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  readonly platform: string
  readonly clock: Clock
  readonly stdout: Sink
  readonly stderr: Sink
}

/** This process. */
export function processIo(home: () => string): Io {
  return {
    env: process.env,
    cwd: process.cwd(),
    get home() {
      return home()
    },
    platform: process.platform,
    clock: liveClock,
    stdout: sinkOf(() => process.stdout, 1),
    stderr: sinkOf(() => process.stderr, 2),
  }
}

/** The stream itself is made when something is said: `run` mostly says nothing, and it takes milliseconds. */
function sinkOf(stream: () => NodeJS.WriteStream, descriptor: number): Sink {
  return {
    write: (text) => void stream().write(text),
    isTTY: isatty(descriptor),
    get columns() {
      return stream().columns || 80
    },
  }
}
