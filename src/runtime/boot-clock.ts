/**
 * The boot clock: time since the machine started, suspend included, as `/proc/uptime` tells it. Owns the reading of
 * `/proc` and the judgement whether it can be believed; where it can't, the wall clock stands in.
 *
 * The id names a boot *as this process sees it*. Processes that share it must see one and the same clock, since a store
 * may trust what the other wrote by it: so a time namespace is part of the id, and an uptime that a container layer made
 * up (lxcfs) is refused, which shows by a process that started later than now.
 */
import { Buffer } from "node:buffer"
import { closeSync, openSync, readFileSync, readlinkSync, readSync } from "node:fs"
import { isPermitted } from "./permissions.ts"

/** The unit of times in `/proc/self/stat`: 100 on every Linux that Node and Deno run on. */
const TICKS_PER_SECOND = 100
/** Uptimes are rounded, and start times too. */
const ROUNDING_SECONDS = 1
/** Among the fields after the command's closing parenthesis, which itself may contain spaces. */
const START_FIELD = 19

export class BootClock {
  readonly #proc: string
  readonly #buffer = Buffer.alloc(64)
  #descriptor: number | undefined
  #id: string | undefined
  #offset = 0
  #state: "unopened" | "readable" | "unreadable" = "unopened"

  /** `proc`: where the process file system is mounted. */
  constructor(proc = "/proc") {
    this.#proc = proc
  }

  /** Milliseconds since boot, or the wall clock (from the last good reading on) where they can't be read. */
  read(wall: number): number {
    if (this.#state === "unopened") this.#open()
    if (this.#state === "unreadable") return wall + this.#offset
    const boot = this.#uptime()
    if (boot === undefined) this.#state = "unreadable"
    else this.#offset = boot - wall
    return wall + this.#offset
  }

  /** Undefined where the boot clock can't be read. */
  get id(): string | undefined {
    if (this.#state === "unopened") this.#open()
    return this.#id
  }

  #open(): void {
    this.#state = "unreadable"
    if (!isPermitted({ name: "read", path: this.#proc })) return
    try {
      this.#descriptor = openSync(`${this.#proc}/uptime`, "r")
      if (this.#isMadeUp()) throw new Error("the uptime is not this kernel's")
      this.#id = this.#bootId()
      this.#state = "readable"
    } catch {
      // Not Linux, not permitted, or not to be believed: the port says that the wall clock stands in.
      if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    }
  }

  #bootId(): string {
    const boot = readFileSync(`${this.#proc}/sys/kernel/random/boot_id`, "utf8").trim()
    const [, namespace = "0"] = /\[(\d+)\]/.exec(this.#timeNamespace()) ?? []
    return `${boot}.${namespace}`
  }

  /** Empty on kernels without time namespaces. */
  #timeNamespace(): string {
    try {
      return readlinkSync(`${this.#proc}/self/ns/time`)
    } catch {
      return ""
    }
  }

  /** Whether this process started after what the uptime says is now. */
  #isMadeUp(): boolean {
    const stat = readFileSync(`${this.#proc}/self/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    const startedAt = Number(fields[START_FIELD]) / TICKS_PER_SECOND
    return !(startedAt <= (this.#uptime() ?? 0) / 1000 + ROUNDING_SECONDS)
  }

  #uptime(): number | undefined {
    try {
      const length = readSync(this.#descriptor!, this.#buffer, 0, this.#buffer.length, 0)
      const seconds = Number.parseFloat(this.#buffer.toString("latin1", 0, length))
      return Number.isFinite(seconds) ? Math.round(seconds * 1000) : undefined
    } catch {
      return undefined
    }
  }
}
