/**
 * What the operating system knows of processes: of this one, how it is told apart from all others of its machine, and
 * of any other, whether it has ended for sure. By `/proc` and signal 0, so on Linux only; whatever can't be read, or
 * isn't permitted, counts as alive. Owns no conclusions about leases.
 *
 * Not promised: that a process which has ended is known to have at once, or at all.
 */
import { openSync, readdirSync, readFileSync, readlinkSync, unlinkSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { isPermitted, type Permission } from "../permissions.ts"
import { type Clock, liveClock, type Timer } from "../time/clock.ts"
import { type PathWatch, watchPath } from "./watch-path.ts"

/** What tells a process apart from all others of one boot of one machine. Null where it can't be read. */
export interface ProcessName {
  /** The machine's name; empty where it isn't known. */
  readonly name: string
  readonly pid: number
  /** When it started, in the kernel's own ticks since boot: as text, only ever compared. */
  readonly startedAt: string | null
  /** In which namespace its pid means something. */
  readonly pidNs: string | null
}

/** A process as `/proc` shows it. */
interface Status {
  readonly state: string
  readonly group: number
  readonly threads: number
  readonly startedAt: string
}

/** The fields of `stat` after the command, which itself may contain spaces and parentheses. */
const FIELDS = { state: 0, group: 2, threads: 17, startedAt: 19 } as const

/** To read of others, to send them signal 0, and for a file that nobody sees. */
const NEEDED: readonly Permission[] = [{ name: "read" }, { name: "write" }, { name: "env" }, { name: "run" }]

/**
 * When to look whether a process that lets go of its files has ended altogether, in ms after each other; the last for
 * good.
 */
const ENDING_MS = [0, 1, 1, 1, 2, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000]

/** The processes of this machine, as this process sees them. */
export class Processes {
  readonly #proc: string
  readonly #kill: (pid: number) => unknown
  readonly #clock: Clock
  #self: ProcessName | undefined
  #life: number | null | undefined

  /** `proc`: where the process file system is mounted. `kill` sends signal 0. */
  constructor(
    proc = "/proc",
    kill: (pid: number) => unknown = (pid) => process.kill(pid, 0),
    clock: Clock = liveClock,
  ) {
    this.#proc = proc
    this.#kill = kill
    this.#clock = clock
  }

  /** This process. */
  get self(): ProcessName {
    this.#self ??= { name: hostName(), pid: process.pid, ...this.#identity() }
    return this.#self
  }

  /**
   * What is known for sure of a process of this pid namespace. It has ended where there is none of that pid, or what is
   * left of it is a zombie without threads. A pid that another process has by now proves nothing.
   */
  fateOf(pid: number, startedAt: string): "ended" | "alive" | undefined {
    if (!Number.isSafeInteger(pid) || pid <= 1 || this.self.pidNs === null) return undefined
    const known = this.#signal(pid)
    if (known !== "there") return known === "none" ? "ended" : undefined
    const status = this.#status(pid)
    if (status?.startedAt !== startedAt) return undefined
    return isZombie(status) ? "ended" : "alive"
  }

  /** Whether a process of this pid namespace has ended for sure. */
  hasEnded(pid: number, startedAt: string): boolean {
    return this.fateOf(pid, startedAt) === "ended"
  }

  /**
   * Whether a process group may have a member that lives. One of zombies alone has none, if all of `/proc` can be seen.
   */
  groupLives(group: number): boolean {
    if (!Number.isSafeInteger(group) || group <= 1 || this.self.pidNs === null) return true
    const known = this.#signal(-group)
    if (known !== "there") return known !== "none"
    const leader = this.#status(group)
    if (leader?.group === group && !isZombie(leader)) return true
    // Twice: a member might have passed its life on to a child behind the back of the first look.
    return !(this.#isAllZombies(group) && this.#isAllZombies(group))
  }

  /**
   * The descriptor of a file without a name that this process keeps open for as long as it lives, so that others can
   * see it end (`whenEnding`). Null where there is none to be had.
   */
  get life(): number | null {
    this.#life ??= this.self.startedAt === null ? null : openUnnamed()
    return this.#life
  }

  /**
   * Calls `wake` once, soon after a process with that `life` has ended. It may miss the end, and hears nothing after
   * it. Nothing tells when the last thread of a process is gone, only that its files are: from then on it looks, for as
   * long as that takes.
   */
  whenEnding(pid: number, startedAt: string, life: number, wake: () => void): PathWatch {
    if (!Number.isSafeInteger(pid) || !Number.isSafeInteger(life) || pid <= 1 || life < 0) return unwatched
    let over = false
    let next: Timer | undefined
    const look = (tries: number): void => {
      next?.cancel() // one that was heard of meanwhile looks often again
      if (over) return
      over = this.hasEnded(pid, startedAt)
      if (over) return wake()
      const ms = ENDING_MS[tries] ?? ENDING_MS.at(-1)!
      next = this.#clock.after(ms, () => look(tries + 1), { background: true })
    }
    const watch = watchPath(`${this.#proc}/${pid}/fd/${life}`, () => look(0))
    return {
      get hears() {
        return !over && watch?.hears === true
      },
      [Symbol.dispose]: () => {
        over = true
        next?.cancel()
        watch?.[Symbol.dispose]()
      },
    }
  }

  /** Only where `/proc` is that of this process's own pid namespace. */
  #identity(): Pick<ProcessName, "startedAt" | "pidNs"> {
    try {
      if (!isPermitted(...NEEDED)) return unknown
      const status = this.#status(process.pid)
      const [, pidNs] = /\[(\d+)\]/.exec(readlinkSync(`${this.#proc}/self/ns/pid`)) ?? []
      if (readlinkSync(`${this.#proc}/self`) !== String(process.pid) || status === undefined) return unknown
      return pidNs === undefined ? unknown : { startedAt: status.startedAt, pidNs }
    } catch {
      return unknown
    }
  }

  #signal(pid: number): "there" | "none" | "unknown" {
    try {
      this.#kill(pid)
      return "there"
    } catch (error) {
      return (error as { code?: unknown }).code === "ESRCH" ? "none" : "unknown"
    }
  }

  /** Undefined where it can't be read. */
  #status(pid: number | string): Status | undefined {
    try {
      const stat = readFileSync(`${this.#proc}/${pid}/stat`, "utf8")
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      const { state, group, threads, startedAt } = FIELDS
      if (fields.length <= startedAt) return undefined
      return {
        state: fields[state]!,
        group: Number(fields[group]),
        threads: Number(fields[threads]),
        startedAt: fields[startedAt]!,
      }
    } catch {
      return undefined
    }
  }

  #isAllZombies(group: number): boolean {
    try {
      if (/ hidepid=(?!0|off)/.test(this.#mounts())) return false
      const pids = readdirSync(this.#proc).filter((name) => /^\d+$/.test(name))
      const members = pids.map((pid) => this.#status(pid)).filter((status) => status?.group === group)
      return members.length > 0 && members.every((status) => status !== undefined && isZombie(status))
    } catch {
      return false
    }
  }

  /** With the options of each file system, one line each. */
  #mounts(): string {
    return readFileSync(`${this.#proc}/self/mounts`, "utf8").replaceAll(",", " ")
  }
}

/** The processes of this machine. */
export const processes: Processes = new Processes()

const unknown = { startedAt: null, pidNs: null } as const

/** What can't be watched. */
export const unwatched: PathWatch = { hears: false, [Symbol.dispose]: () => {} }

/** A process that was killed is one until its parent hears of it; with threads, some of it may still run. */
const isZombie = ({ state, threads }: Status): boolean => state === "Z" && threads === 1

/** Empty where it isn't permitted to be known. */
function hostName(): string {
  return isPermitted({ name: "sys", kind: "hostname" }) ? hostname() : ""
}

function openUnnamed(): number | null {
  const path = join(tmpdir(), `.leasehold-${process.pid}-${liveClock.id()}`)
  try {
    openSync(path, "wx", 0o600)
    unlinkSync(path)
    return descriptorOf(path)
  } catch {
    return null // not everybody may write there: then the end of this process is found by looking
  }
}

/** What the kernel calls it. Deno has numbers of its own for open files. */
function descriptorOf(path: string): number | null {
  const open = "/proc/self/fd"
  const found = readdirSync(open).find((name) => {
    try {
      return readlinkSync(`${open}/${name}`) === `${path} (deleted)`
    } catch {
      return false // closed meanwhile
    }
  })
  return found === undefined ? null : Number(found)
}
