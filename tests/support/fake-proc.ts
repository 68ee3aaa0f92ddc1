/** A process file system made of files, and the answers to signal 0 that go with it. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { Processes } from "../../src/runtime/machine/processes.ts"
import type { Clock } from "../../src/runtime/time/clock.ts"

/** A process as `stat` tells it. */
export interface FakeProcess {
  readonly state?: string
  readonly group?: number
  readonly threads?: number
  readonly startedAt?: string
}

export class FakeProc implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), "leasehold-proc-"))
  /** What signal 0 to a pid, or to a group by its negative, fails with; without one it goes through. */
  readonly signals: Map<number, string> = new Map()
  readonly #own: string

  /** `namespace`: of pids. `self`: what this process's pid is in it. */
  constructor(namespace: string = "77", self: number = process.pid) {
    this.#own = String(process.pid)
    this.add(process.pid, { startedAt: "1000" })
    mkdirSync(join(this.path, this.#own, "ns"))
    symlinkSync(`pid:[${namespace}]`, join(this.path, this.#own, "ns", "pid"))
    symlinkSync(this.#own, join(this.path, "real"))
    symlinkSync(String(self), join(this.path, "self"))
    writeFileSync(join(this.path, this.#own, "mounts"), "proc /proc proc rw,nosuid 0 0\n")
  }

  /** What reads it; `asked` hears of each signal 0 to a pid. */
  processes(clock?: Clock, asked?: (pid: number) => void): Processes {
    const kill = (pid: number): void => {
      asked?.(pid)
      const code = this.signals.get(pid)
      if (code !== undefined) throw Object.assign(new Error(code), { code })
    }
    return new Processes(this.path, kill, clock)
  }

  add(pid: number, { state = "S", group = pid, threads = 1, startedAt = "5000" }: FakeProcess = {}): void {
    mkdirSync(join(this.path, String(pid)), { recursive: true })
    const fields = [state, 1, group, group, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, threads, 0, startedAt, 0, 0]
    writeFileSync(join(this.path, String(pid), "stat"), `${pid} (a (b) c) ${fields.join(" ")}\n`)
  }

  /** Has a file open by that descriptor. What is returned changes the file, as its last closing does. */
  open(pid: number, life: number): () => void {
    const folder = join(this.path, String(pid), "fd")
    mkdirSync(folder, { recursive: true })
    const file = join(folder, String(life))
    writeFileSync(file, "")
    return () => writeFileSync(file, "x")
  }

  /** It is there, and can't be read. */
  hide(pid: number): void {
    rmSync(join(this.path, String(pid)), { recursive: true })
  }

  mount(options: string): void {
    writeFileSync(join(this.path, this.#own, "mounts"), `proc /proc proc rw,${options} 0 0\n`)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true })
  }
}
