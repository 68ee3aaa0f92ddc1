/**
 * A worker with a lock, as a test sees it: told what to do by lines, and heard by lines. A test waits for what the
 * worker says, never for time to pass.
 */
import type { LockCommand, LockWorkerSettings } from "../lock-worker.ts"
import { type Ended, type Runtime, type Spawned, spawnScript } from "./spawn.ts"

/** A line that a worker printed. */
export interface Said {
  readonly event: string
  readonly at?: number
  readonly deadline?: number
  readonly token?: number
  readonly how?: string
  readonly error?: unknown
  readonly result?: string
  readonly aborted?: boolean
  readonly acts?: number
  readonly pid?: number
  readonly held?: boolean
}

interface Wait {
  readonly event: string
  readonly settle: (said: Said) => void
}

export class LockProcess implements AsyncDisposable {
  /** All that it said so far. */
  readonly said: Said[] = []
  readonly ended: Promise<Ended>
  readonly #spawned: Spawned
  readonly #waits = new Set<Wait>()
  #rest = ""

  constructor(runtime: Runtime, settings: LockWorkerSettings) {
    const script = new URL("../lock-worker.ts", import.meta.url)
    this.#spawned = spawnScript({ runtime, script, args: [JSON.stringify(settings)] })
    this.ended = this.#spawned.ended
    this.#spawned.child.stdout?.on("data", (text: string) => this.#hear(text))
  }

  get pid(): number {
    return this.#spawned.child.pid!
  }

  tell(...commands: readonly LockCommand[]): void {
    for (const command of commands) this.#spawned.child.stdin?.write(`${JSON.stringify(command)}\n`)
  }

  /** The first line of this event, also one that was printed before. */
  async says(event: string): Promise<Said> {
    const found = this.said.find((said) => said.event === event)
    if (found !== undefined) return found
    return Promise.race([this.#next(event), this.#endedBefore(event)])
  }

  signal(name: NodeJS.Signals): void {
    if (!this.#spawned.signal(name)) throw new Error(`the worker is gone: ${JSON.stringify(this.said)}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#spawned.signal("SIGKILL")
    await this.ended
  }

  #next(event: string): Promise<Said> {
    return new Promise((settle) => void this.#waits.add({ event, settle }))
  }

  async #endedBefore(event: string): Promise<never> {
    const { code, stdout, stderr } = await this.ended
    throw new Error(`the worker ended with ${code} before it said ${event}: ${stdout}${stderr}`)
  }

  #hear(text: string): void {
    const lines = (this.#rest + text).split("\n")
    this.#rest = lines.pop() ?? ""
    for (const line of lines) this.#said(JSON.parse(line) as Said)
  }

  #said(said: Said): void {
    this.said.push(said)
    for (const wait of this.#waits) {
      if (wait.event !== said.event) continue
      this.#waits.delete(wait)
      wait.settle(said)
    }
  }
}
