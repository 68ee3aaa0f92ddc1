/**
 * The `leasehold` command as a process of its own, bundled from the sources, on a store in a directory unless another
 * is named.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, inject, onTestFinished, vi } from "vitest"
import { type Ended, type Runtime, type Spawned, spawnScript } from "./spawn.ts"

/** What is started. */
export const leasehold: string = inject("command")
const terminal = fileURLToPath(new URL("./terminal.py", import.meta.url))
const hangup = fileURLToPath(new URL("./hangup.py", import.meta.url))

/** A shell that calls it. */
export class Shell {
  readonly directory: string = mkdtempSync(join(tmpdir(), "leasehold-command-"))
  readonly #runtime: Runtime
  readonly #env: Readonly<Record<string, string>>

  /** `env`: beside what names the store, or instead of it. */
  constructor(runtime: Runtime = "node", env: Readonly<Record<string, string>> = {}) {
    this.#runtime = runtime
    this.#env = { LEASEHOLD_STORE: `file:${this.directory}`, NO_COLOR: "1", ...env }
    onTestFinished(() => rmSync(this.directory, { recursive: true }))
  }

  /** Begins it; it is killed after the test, if it still runs then. */
  start(...args: readonly string[]): Spawned {
    const env = { LEASEHOLD_LOCK_TIMEOUT: "60", ...this.#env }
    const spawned = spawnScript({ runtime: this.#runtime, script: leasehold, args, env })
    onTestFinished(() => void spawned.signal("SIGKILL"))
    return spawned
  }

  /** The same in a line of sh, where it is called `"$@"`. A line that execs it is the process that signals go to. */
  startIn(line: string): Spawned {
    return this.#begin(["sh", "-c", line, "sh"], [])
  }

  /**
   * Runs it to its end on a terminal, where `keys` are typed once it has said `text`. What it showed, and how it ended.
   */
  onTerminal(text: string, keys: string, ...args: readonly string[]): Promise<Ended> {
    return this.#under([terminal, text, keys], args)
  }

  /** The same as a part of a line of sh, where it is called `"$@"`. */
  inPipe(line: string, text: string, keys: string, ...args: readonly string[]): Promise<Ended> {
    return this.#under([terminal, text, keys, "sh", "-c", line, "sh"], args)
  }

  /** Begins it in a line of sh on a terminal, where it is called `"$@"`, and closes that once it has said `text`. */
  hungUp(line: string, text: string, ...args: readonly string[]): Promise<Ended> {
    return this.#under([hangup, text, line], args)
  }

  /** Runs it to its end, with nothing to read. */
  call(...args: readonly string[]): Promise<Ended> {
    const spawned = this.start(...args)
    spawned.child.stdin?.end()
    return spawned.ended
  }

  #under(words: readonly string[], args: readonly string[]): Promise<Ended> {
    // Where it still waits for the text after the test: its terminal is closed with it, and that ends what runs there.
    return this.#begin(["python3", ...words], args).ended
  }

  #begin(under: readonly string[], args: readonly string[]): Spawned {
    const spawned = spawnScript({ runtime: this.#runtime, script: leasehold, args, env: this.#env, under })
    onTestFinished(() => void spawned.signal("SIGKILL"))
    return spawned
  }
}

/** Settles with all that the process has said once this is among it; rejects where it ends first. */
export async function says({ child, ended }: Spawned, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let heard = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (more: string) => {
      heard += more
      if (heard.includes(text)) resolve(heard)
    })
  }
  void ended.then(({ stdout, stderr }) => {
    if (!(stdout + stderr).includes(text)) reject(new Error(`it never said ${text}: ${stdout}${stderr}`))
  })
  return promise
}

/** The waiter in the record of a key, as `status` tells it; null where there is none. */
export async function waiterOf(shell: Shell, key: string): Promise<{ readonly waiterId: string } | null> {
  const { stdout } = await shell.call("status", "--json", key)
  return (JSON.parse(stdout) as { waiter: { waiterId: string } | null }).waiter
}

/**
 * When the first of these leases ends by its record in the shell's directory, in Unix milliseconds; 0 where one has no
 * owner.
 */
export function leasesEnd({ directory }: Shell, keys: readonly string[]): number {
  const ends = keys.map((key) => {
    const path = join(directory, `${key}.lock`)
    if (!existsSync(path)) return 0 // for a moment, while a version is written
    return Math.round((JSON.parse(readFileSync(path, "utf8")) as { expiresAt: number }).expiresAt * 1000)
  })
  return Math.min(...ends)
}

/** Settles once the leases end later than that; rejects where the run that has them ends first. */
export async function areRenewed(shell: Shell, run: Spawned, keys: readonly string[], than: number): Promise<void> {
  const early = run.ended.then((ended): never => {
    throw new Error(`it ended, and ${keys.join()} was never seen to be renewed: ${JSON.stringify(ended)}`)
  })
  const ends = (): void => expect(leasesEnd(shell, keys)).toBeGreaterThan(than)
  const renewed = vi.waitFor(ends, { timeout: 60_000, interval: 20 })
  renewed.catch(() => {}) // where the run ends first nobody waits for it
  await Promise.race([renewed, early])
}

/** Settles once the record of the key names a waiter; rejects where the one that should be it ends first. */
export async function isWaitedFor(shell: Shell, key: string, by: Spawned): Promise<void> {
  const early = by.ended.then(({ code, stdout, stderr }): never => {
    throw new Error(`it ended with ${code}, and was never seen to wait for ${key}: ${stdout}${stderr}`)
  })
  while ((await Promise.race([waiterOf(shell, key), early])) === null);
}
