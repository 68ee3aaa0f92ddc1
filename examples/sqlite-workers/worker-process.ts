// A worker as the driver sees it: a child process that reports, is asked over HTTP, and is surely dead once disposed.
import { type ChildProcessByStdio, spawn } from "node:child_process"
import process from "node:process"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { Failure } from "./failure.ts"
import { parseReport, type Report } from "./reports.ts"
import { commandFor, type Runtime } from "./runtimes.ts"
import { within } from "./within.ts"

/** A guard against hangs: a start takes a second, and many times that beside other work. */
const READY_WITHIN_MS = 120_000
/** For a worker that is asked to end when it is no longer needed; then it is killed. */
const END_WITHIN_MS = 3000

/** How a process ended: its exit code, or the signal that ended it. */
export type Ending = number | NodeJS.Signals | null

export class WorkerProcess implements AsyncDisposable {
  readonly name: string
  /** This life of this worker, as the act log names it. */
  readonly process: string
  readonly ended: Promise<Ending>
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #ready = Promise.withResolvers<{ readonly url: string; readonly page: string }>()
  #url = ""
  #page = ""

  /**
   * `program`: a file of this folder. `secret`: what all workers of the run know. It goes in the environment, as
   * arguments are for everybody on the machine to read.
   */
  constructor(
    runtime: Runtime,
    program: string,
    settings: { readonly name: string },
    secret: string,
    onReport: (report: Report) => void,
  ) {
    const [command, ...args] = commandFor(runtime, program)
    const env = { ...process.env, LEASEHOLD_SECRET: secret }
    this.name = settings.name
    this.#child = spawn(command, [...args, JSON.stringify(settings)], { env, stdio: ["pipe", "pipe", "inherit"] })
    this.process = `${settings.name}-${this.#child.pid}`
    this.#ready.promise.catch(() => {})
    this.ended = new Promise((resolve) => {
      this.#child.once("error", (error) => this.#ready.reject(error)).once("error", () => resolve(null))
      this.#child.once("close", (code, signal) => resolve(code ?? signal))
    })
    void this.ended.then((ending) => this.#ready.reject(new Failure(`worker ${this.name} ended with ${ending}`)))
    createInterface(this.#child.stdout).on("line", (line) => this.#read(line, onReport))
    this.#child.stdin.on("error", () => {}) // it has ended: `ended` tells
    process.once("exit", this.#kill)
  }

  /** Where it serves. */
  get url(): string {
    return this.#url
  }

  /** Where the page of the fleet is, with its token. */
  get page(): string {
    return this.#page
  }

  /** Settles when it serves. Rejects with why it doesn't. */
  async ready(): Promise<void> {
    const { url, page } = await within(READY_WITHIN_MS, `worker ${this.name} to serve`, this.#ready.promise)
    this.#url = url
    this.#page = page
  }

  /** By id: Deno's own `child.kill` reports wrong endings. A process that has ended is left alone. */
  send(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#child
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(pid, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.send("SIGTERM")
    await within(END_WITHIN_MS, "", this.ended).catch(this.#kill)
    await this.ended
    process.off("exit", this.#kill)
  }

  readonly #kill = (): void => this.send("SIGKILL")

  #read(line: string, onReport: (report: Report) => void): void {
    const report = parseReport(line)
    if (report === undefined) return console.error(`${this.name}: ${line}`)
    onReport(report)
    if (report.what === "ready") this.#ready.resolve(report)
    if (report.what === "failed") this.#ready.reject(new Failure(`worker ${this.name} failed: ${report.error}`))
  }
}
