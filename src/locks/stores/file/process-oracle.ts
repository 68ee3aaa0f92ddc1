/**
 * What this machine knows of a process that a record names, under the conditions of docs/protocol.md, "file". Host,
 * boot, pid namespace and start must be readable on both sides, and match. Where they don't, the key is left to its
 * lease. A process group that may be this machine's counts as at work until it is shown to have ended.
 */
import { type Processes, processes, unwatched } from "../../../runtime/machine/processes.ts"
import { bootOf, type HostHalf } from "../../record.ts"
import type { Liveness, Watching, ProcessOracle } from "../port.ts"

/** The processes that share this one's boot. */
export class MachineProcesses implements ProcessOracle {
  readonly #bootId: string
  readonly #processes: Processes

  /** `bootId`: as the records of this boot name it. */
  constructor(bootId: string, known: Processes = processes) {
    this.#bootId = bootId
    this.#processes = known
  }

  livenessOf(host: HostHalf, stands = false): Liveness | undefined {
    if (!this.#isOfBoot(host)) return undefined
    if (this.#isThis(host)) return "alive"
    if (stands && this.#isOther(host) && this.#fateOf(host) === "alive") return "alive"
    if (this.#isAtWork(host)) return "working"
    return this.#isHere(host) ? this.#fateOf(host) : undefined
  }

  #fateOf({ pid, startedAt }: HostHalf & { startedAt: string }): Liveness | undefined {
    const fate = this.#processes.fateOf(pid, startedAt)
    return fate === "ended" ? "gone" : fate
  }

  watch(host: HostHalf, wake: () => void): Watching {
    if (!this.#isHere(host) || this.#isThis(host) || host.life === undefined) return unwatched
    return this.#processes.whenEnding(host.pid, host.startedAt, host.life, wake)
  }

  /** Whether it runs in this boot. Which clock of the boot stamps its record doesn't matter. */
  #isOfBoot({ bootId }: HostHalf): boolean {
    return typeof bootId === "string" && bootOf(bootId) === this.#bootId
  }

  /**
   * Groups of another namespace are unknown, as those of another machine. Groups of an unknown namespace may be here.
   */
  #isAtWork({ pidNs, groups }: HostHalf): boolean {
    if (!Array.isArray(groups) || groups.length === 0) return false
    const { self } = this.#processes
    if (pidNs === null || self.pidNs === null) return true
    return pidNs === self.pidNs && groups.some((group) => this.#processes.groupLives(group as number))
  }

  #isHere(host: HostHalf): host is HostHalf & { startedAt: string } {
    const { self } = this.#processes
    const { pidNs, name, startedAt } = host
    if (!this.#isOfBoot(host) || self.pidNs === null || pidNs !== self.pidNs) return false
    return name !== "" && name === self.name && typeof startedAt === "string"
  }

  /** Whether it is another process of this machine: earlier attempts of this one may have groups at work. */
  #isOther(host: HostHalf): host is HostHalf & { startedAt: string } {
    return this.#isHere(host) && host.pid !== this.#processes.self.pid
  }

  /** Whether it is this process, with no groups named. */
  #isThis({ pid, startedAt, groups }: HostHalf): boolean {
    const { self } = this.#processes
    return pid === self.pid && startedAt === self.startedAt && !(Array.isArray(groups) && groups.length > 0)
  }
}
