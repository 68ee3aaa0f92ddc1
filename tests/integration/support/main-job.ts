// Runs `examples/sqlite-workers/main.ts` as a process of its own, on the runtime that runs the tests, and reads its
// last line.
import { spawn } from "node:child_process"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { commandFor, ownRuntime } from "../../../examples/sqlite-workers/runtimes.ts"

export interface MainJob {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly lastLine: string
  /** The figures of the last line, where it is the one that a job ends with. */
  readonly figures:
    | {
        readonly handoff: number
        readonly takeover: number
        readonly found: number
        readonly of: number
        readonly owners: number
      }
    | undefined
}

export const runMainJob = (...args: string[]): Promise<MainJob> => startMainJob(...args).ended

/** One that runs. */
export interface RunningMainJob {
  readonly ended: Promise<MainJob>
  /** The part in brackets of what it prints, once it has. Rejects where it ends without. */
  printed(pattern: RegExp): Promise<string>
  /** Its driver stands still until the result is disposed; its workers go on. */
  held(): Disposable
}

export const startMainJob = (...args: string[]): RunningMainJob =>
  begin([...commandFor(ownRuntime, "./main.ts"), ...args])

/** Runs it on a terminal, where `keys` are typed once it has said `text`. Its end is in what that shows. */
export const runMainJobOnTerminal = (text: string, keys: string): Promise<MainJob> =>
  begin(["python3", terminal, text, keys, ...commandFor(ownRuntime, "./main.ts")]).ended

const terminal = fileURLToPath(new URL("./terminal.py", import.meta.url))

function begin([command, ...args]: readonly [string, ...string[]]): RunningMainJob {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env: process.env })
  let [stdout, stderr] = ["", ""]
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const ended = new Promise<MainJob>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code) => {
      const lastLine = stdout.trimEnd().split("\n").at(-1) ?? ""
      resolve({ code, stdout, stderr, lastLine, figures: figuresOf(lastLine) })
    })
  })
  return { ended, printed, held }

  function held(): Disposable {
    send("SIGSTOP")
    return { [Symbol.dispose]: () => send("SIGCONT") }
  }

  // By its id: Deno's own `child.kill` refuses a second signal. One that has ended is left alone.
  function send(signal: NodeJS.Signals): void {
    if (child.exitCode === null && child.signalCode === null) process.kill(child.pid!, signal)
  }

  function printed(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const [, found] = pattern.exec(stdout) ?? []
        if (found !== undefined) resolve(found)
      }
      child.stdout.on("data", look)
      void ended.then(() => reject(new Error(`It ended without ${String(pattern)}: ${stdout}${stderr}`)), reject)
      look()
    })
  }
}

const LINE = /^main job: handoff (\d+) ms, takeover (\d+) ms, rows (\d+)\/(\d+), owners at once (\d+)$/

function figuresOf(line: string): MainJob["figures"] {
  const [, handoff, takeover, found, of, owners] = (LINE.exec(line) ?? []).map(Number)
  if (owners === undefined) return undefined
  return { handoff: handoff!, takeover: takeover!, found: found!, of: of!, owners }
}
