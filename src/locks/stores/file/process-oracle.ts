/**
 * What this machine knows of a process that a record names, under the conditions of docs/protocol.md, "file". Host, boot, pid
 * namespace and start must be readable on both sides and match; whatever isn't so leaves the key to its lease. Process
 * groups that may be this machine's and can't be shown to have ended are at work.
 */
import { type Processes, processes, unwatched } from "../../../runtime/machine/processes.ts"
import { bootOf, type HostHalf } from "../../record.ts"
import type { Liveness, Watching, ProcessOracle } from "../port.ts"

/** Of the processes that share this one's boot. */
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

  /** Whichever clock of that boot its record is stamped by. */
  #isOfBoot({ bootId }: HostHalf): boolean {
    return typeof bootId === "string" && bootOf(bootId) === this.#bootId
  }

  /** Another namespace's groups are as unknown as another machine's; those of an unknown one may be here. */
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

  /** An earlier attempt of this very process may have groups at work, though the process lives. */
  #isOther(host: HostHalf): host is HostHalf & { startedAt: string } {
    return this.#isHere(host) && host.pid !== this.#processes.self.pid
  }

  /** It lives, and its groups are its own matter. */
  #isThis({ pid, startedAt, groups }: HostHalf): boolean {
    const { self } = this.#processes
    return pid === self.pid && startedAt === self.startedAt && !(Array.isArray(groups) && groups.length > 0)
  }
}
