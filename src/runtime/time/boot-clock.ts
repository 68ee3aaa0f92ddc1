/**
 * The boot clock: time since the machine started, suspend included, as `/proc/uptime` tells it. Owns the reading of
 * `/proc` and the judgement whether it can be believed; where it can't, the wall clock stands in.
 *
 * The id names a boot *as this process sees it*. Processes that share it must see one and the same clock, since a store
 * may trust what the other wrote by it. So a time namespace is part of the id, and an uptime that something made up
 * (lxcfs, for a container) is refused. Two things must hold, neither of which is enough alone:
 *
 * - The kernel's list of mounts says that the file is the kernel's own, of the file system `proc`.
 * - By the uptime this process has lived as long as it knows that it has. The kernel tells its start in `stat`, a
 *   monotonic clock its age. That clock stands still in suspend, and begins when a process that was started long before
 *   executes its program. Its age may be too low, so it only refutes an uptime that is lower yet.
 *
 * A clock that was believed is judged anew when it and the wall clock go apart: a process that was restored from a
 * checkpoint image is in another time namespace, or on another machine. From then on there is no boot clock, nor a
 * boot's id.
 *
 * Not promised: to find a made-up uptime of a kernel's own, in a process that is younger than what was made up. What
 * follows from disagreement between processes is a store's matter.
 */
import { Buffer } from "node:buffer"
import { closeSync, openSync, readFileSync, readlinkSync, readSync } from "node:fs"
import { fileSystemOf } from "../mounts.ts"
import { isPermitted } from "../permissions.ts"

/** The unit of times in `/proc/self/stat`: 100 on every Linux that Node and Deno run on. */
const TICKS_PER_SECOND = 100
/** Uptimes are rounded, and start times too. */
const ROUNDING_SECONDS = 1
/** Among the fields after the command's closing parenthesis, which itself may contain spaces. */
const START_FIELD = 19
/** In ms. So far apart the clocks count as diverged everywhere. */
const APART = 1000
/** In ms. The kernel cuts the uptime to hundredths of a second: the machine is that old, or up to so much older. */
const CUT = 10
/** For how long a reading of the file is good, in ms: one reading serves all that is done in one turn of the loop. */
const FRESH = 5
/** In ms. By less the wall clock and the monotonic one differ where they go on together: `Date.now` rounds to 1. */
const TOGETHER = 2

export class BootClock {
  readonly #proc: string
  readonly #ageSeconds: () => number
  readonly #buffer = Buffer.alloc(64)
  #descriptor: number | undefined
  #id: string | undefined
  /** By how much it is ahead of the wall clock. */
  #offset: number | undefined
  /** When the file was read last, by the two other clocks. */
  #wall = 0
  #mono = Number.NEGATIVE_INFINITY
  #state: "unopened" | "readable" | "unreadable" = "unopened"

  /** `proc`: where the process file system is mounted. `ageSeconds`: for how long this process has lived, at least. */
  constructor(proc = "/proc", ageSeconds: () => number = () => 0) {
    this.#proc = proc
    this.#ageSeconds = ageSeconds
  }

  /**
   * Milliseconds since boot, or the wall clock (from the last good reading on) where they can't be read. The file isn't
   * read anew within 5 ms, as long as the wall clock and the monotonic one have gone on together: a suspend moves the
   * wall clock alone. A time is up to 10 ms too low, never too high, and none is lower than one that was read before.
   */
  read(wall: number, mono: number): number {
    if (this.#state === "unopened") this.#open()
    if (this.#state === "readable") {
      if (this.#isFresh(wall, mono)) return this.#wall + this.#offset! + (mono - this.#mono)
      this.#follow(wall, mono)
      this.#wall = wall
      this.#mono = mono
    }
    return wall + (this.#offset ?? 0)
  }

  /** Undefined where the boot clock can't be read, or is no longer that of the boot in which it was first read. */
  get id(): string | undefined {
    if (this.#state === "unopened") this.#open()
    return this.#id
  }

  #isFresh(wall: number, mono: number): boolean {
    const passed = mono - this.#mono
    return passed < FRESH && Math.abs(wall - this.#wall - passed) < TOGETHER
  }

  #open(): void {
    this.#state = "unreadable"
    if (!isPermitted({ name: "read", path: this.#proc })) return
    try {
      this.#descriptor = openSync(`${this.#proc}/uptime`, "r")
      this.#id = this.#judged()
      this.#state = "readable"
    } catch {
      // Not Linux, not permitted, or not to be believed: the port says that the wall clock stands in.
      this.#close()
    }
  }

  #follow(wall: number, mono: number): void {
    const uptime = this.#uptime()
    if (uptime === undefined) return this.#leave()
    const offset = this.#uncut(uptime, mono) - wall
    if (Math.abs(offset - (this.#offset ?? offset)) > APART && !this.#isStill()) return this.#leave()
    this.#offset = offset
  }

  /**
   * The uptime before the kernel cut it, as far as the last reading and the monotonic clock tell. Without that the
   * clock would go back: by 5 ms where a reading was carried on for so long, and the next is of the same hundredth.
   */
  #uncut(uptime: number, mono: number): number {
    const carried = this.#wall + (this.#offset ?? 0) + (mono - this.#mono)
    return carried > uptime && carried < uptime + CUT ? carried : uptime
  }

  /** The wall clock stands in from here on, by what it was when it last agreed. */
  #leave(): void {
    this.#state = "unreadable"
    this.#id = undefined
    this.#close()
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  #isStill(): boolean {
    try {
      return this.#judged() === this.#id
    } catch {
      return false
    }
  }

  /** The id of the boot. Throws where the uptime is not to be believed. */
  #judged(): string {
    const mounts = readFileSync(`${this.#proc}/self/mountinfo`, "utf8")
    if (fileSystemOf(mounts, `${this.#proc}/uptime`) !== "proc") throw new Error("the uptime is not the kernel's file")
    if (this.#isTooLow()) throw new Error("by the uptime this process is older than the machine, or younger than it is")
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

  #isTooLow(): boolean {
    const stat = readFileSync(`${this.#proc}/self/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    const startedAt = Number(fields[START_FIELD]) / TICKS_PER_SECOND
    const age = this.#ageSeconds()
    return !(startedAt + age <= (this.#uptime() ?? 0) / 1000 + ROUNDING_SECONDS)
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
