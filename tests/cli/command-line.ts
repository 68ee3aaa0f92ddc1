/** The command in this process, on a directory of its own: what it answers, and what it says. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { main } from "../../src/cli/main.ts"
import type { Io } from "../../src/cli/process/io.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"

/** What a call came to. */
export interface Answer {
  readonly code: number | string
  readonly out: string
  readonly err: string
}

/** A user at a shell. */
export class CommandLine {
  /** Where the user is; removed after the test. */
  readonly cwd: string = mkdtempSync(join(tmpdir(), "leasehold-cli-"))
  env: Record<string, string | undefined> = {}
  platform = "linux"
  isTTY = false
  /** How wide the terminal is. */
  columns = 80

  constructor() {
    onTestFinished(() => rmSync(this.cwd, { recursive: true }))
  }

  /** The store of `store/` there. */
  get store(): string {
    return `file:${join(this.cwd, "store")}`
  }

  /** Calls `leasehold` with these words. */
  async run(...words: readonly string[]): Promise<Answer> {
    const said = { out: "", err: "" }
    const code = await main(words, this.io(said))
    return { code, ...said }
  }

  /** The same on the store of `store/`, its result read as JSON. */
  async json(command: string, ...words: readonly string[]): Promise<{ code: number | string; value: never }> {
    const { code, out } = await this.run(command, "--json", "--store", this.store, ...words)
    return { code, value: JSON.parse(out) as never }
  }

  io(said: { out: string; err: string }): Io {
    const { cwd, env, platform, isTTY, columns } = this
    return {
      ...{ env, cwd, home: join(cwd, "home"), platform, clock: liveClock },
      stdout: { isTTY, columns, write: (text) => void (said.out += text) },
      stderr: { isTTY, write: (text) => void (said.err += text) },
    }
  }
}
