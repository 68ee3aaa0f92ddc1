/**
 * Supervises a command that runs under leases: its process group must have ended before another process can own a key.
 *
 * | cause                                                | signals to the process group                               |
 * | ---------------------------------------------------- | ---------------------------------------------------------- |
 * | the lease is not renewed in time                     | SIGTERM at `deadline - lead`, SIGKILL at `deadline`        |
 * | the lease is lost, and the key not another's yet     | SIGTERM, SIGKILL after `lead`, at `deadline` at the latest |
 * | the lease is lost, and another may own the key       | SIGKILL at once                                            |
 * | another process asks for a key (`--on-request=term`) | SIGTERM, SIGKILL after `grace`                             |
 * | the guardian has ended                               | SIGTERM, SIGKILL after `lead`                              |
 * | the command has ended, and left others in its group  | SIGTERM, SIGKILL after `grace`, at most `lead`             |
 *
 * Signals are sent first, and the user is told afterwards.
 *
 * Not promised: that a process ends which left the group, such as a daemon with a session of its own. Nor that one ends
 * which this user may not signal: the key is kept until it has ended, as long as the lease can be renewed.
 */
import { type LockError, LockLostError } from "../../locks/api/errors.ts"
import type { Lease } from "../../locks/api/lock.ts"
import { lacksRoom } from "../../locks/stores/room.ts"
import type { Clock, Timer } from "../../runtime/time/clock.ts"
import { sleep } from "../../runtime/time/sleep.ts"
import { instantText } from "../frame/moments.ts"
import type { Environment } from "../process/bytes.ts"
import type { Hooks } from "./hook.ts"
import type { LeaseFile } from "./lease-file.ts"
import type { Exit } from "./process/gate.ts"
import type { WorkGroup } from "./process/group.ts"
import type { Guardian } from "./process/guardian.ts"
import type { RunSettings } from "./settings.ts"

/** The longest from SIGTERM to SIGKILL when a lease ends, in ms. A short lease has a sixth of its ttl. */
const LONGEST_LEAD = 5000
/**
 * The first pause before a look whether the group is empty, in ms. Most groups are: each next pause is twice as long.
 */
const LOOK_MS = 5
/** The longest such pause, in ms: the key is free that much later than it could be. */
const LONGEST_LOOK = 1000

/** The command, its leases, and the parts that a supervision acts through. */
export interface SupervisedWork {
  readonly leases: readonly Lease[]
  readonly group: WorkGroup
  readonly ended: Promise<Exit>
  readonly guardian: Pick<Guardian, "gone" | "allow" | "dismiss">
  readonly file: Pick<LeaseFile, "write">
  readonly hooks: Pick<Hooks, "start">
  /** The incarnation that owns the keys. */
  readonly owner: string
  /** The environment of the command, without the tokens and the deadline: its gate tells it those. */
  readonly env: Environment
  readonly settings: Pick<RunSettings, "ttl" | "grace" | "onRequest">
  readonly clock: Clock
  /** Tells the user. Called after the act that it tells of. */
  readonly note: (event: string, message: string) => void
}

/** How a command ended, and the loss of its lease if there was one. */
export interface RunOutcome {
  readonly exit: Exit
  readonly lost: LockLostError | undefined
}

/** Supervises one command, from before it is let in until its group is empty. */
export class Supervision implements Disposable {
  readonly #work: SupervisedWork
  readonly #lead: number
  readonly #endings: Disposable[] = []
  readonly #noted = new Set<string>()
  #deadline: number
  #warning: Timer | undefined
  #lost: LockLostError | undefined
  #over = false

  constructor(work: SupervisedWork) {
    this.#work = work
    this.#lead = Math.min(LONGEST_LEAD, work.settings.ttl / 6)
    this.#deadline = this.#earliest().deadline
    for (const lease of work.leases) this.#follow(lease)
    void work.guardian.gone.then(() => this.#unguarded())
    this.#renewed()
  }

  /** The lease that ends first, in Unix milliseconds. */
  get deadline(): number {
    return this.#deadline
  }

  /** Settles once the command and all of its group have ended. */
  async finish(): Promise<RunOutcome> {
    // 1. Wait for the command.
    const exit = await this.#work.ended
    // 2. End what it left in its group.
    await this.#empty()
    // 3. Stop.
    this.#lookForLoss()
    this.#over = true
    this.#work.guardian.dismiss()
    return { exit, lost: this.#lost }
  }

  /**
   * Looks for a loss that nobody has told of. When this process stood still the guardian may have killed the command,
   * and its end is known before the timers run that were due.
   */
  #lookForLoss(): void {
    for (const { signal } of this.#work.leases) if (signal.aborted) this.#lost ??= signal.reason as LockLostError
  }

  /** Another process asks for a key: what the user wants then is done. */
  requested(waiterId: string): void {
    const { settings, note } = this.#work
    if (this.#over || this.#lost !== undefined) return
    switch (settings.onRequest.do) {
      case "ignore":
        return
      case "term":
        this.#terminate(settings.grace)
        return note("requested", `${JSON.stringify(waiterId)} asks for the key: the command is told to end`)
      case "exec": {
        const failed = (error: unknown): void => note("requested", `--on-request failed: ${String(error)}`)
        this.#work.hooks.start(settings.onRequest.line, this.#hookEnv(waiterId), failed)
        note("requested", `${JSON.stringify(waiterId)} asks for the key`)
      }
    }
  }

  /** The command's environment, with the tokens and the deadline as they are now, and who asks. */
  #hookEnv(waiterId: string): Environment {
    const { env, leases, group } = this.#work
    return {
      ...env,
      LEASEHOLD_TOKEN: leases.map(({ token }) => token).join("\n"),
      LEASEHOLD_DEADLINE: String(Math.floor(this.#deadline / 1000)),
      LEASEHOLD_WAITER: waiterId,
      LEASEHOLD_GROUP: String(group.id),
    }
  }

  [Symbol.dispose](): void {
    this.#over = true
    this.#warning?.cancel()
    for (const ending of this.#endings) ending[Symbol.dispose]()
  }

  #follow(lease: Lease): void {
    const events = lease.events$.subscribe((event) => {
      if (event.type === "Renewed" || event.type === "Recovered") this.#renewed()
      else if (event.type === "Degraded" && event.error !== undefined && lacksRoom(event.error)) this.#full(event.error)
    })
    const lost = (): void => this.#lose(lease.signal.reason as LockLostError)
    lease.signal.addEventListener("abort", lost, { once: true })
    this.#endings.push({
      [Symbol.dispose]: () => {
        events.unsubscribe()
        lease.signal.removeEventListener("abort", lost)
      },
    })
    if (lease.signal.aborted) lost()
  }

  /** Lets the command work until the earliest deadline. After a loss nothing extends its time. */
  #renewed(): void {
    if (this.#over || this.#lost !== undefined) return
    const { clock, guardian } = this.#work
    this.#deadline = this.#earliest().deadline
    guardian.allow(this.#deadline)
    this.#warning?.cancel()
    this.#warning = clock.after(this.#deadline - this.#lead - clock.read().wall, () => this.#ending())
    this.#write()
  }

  /** Tells that the store has no room for a renewal, and until when the user can make some. */
  #full(error: LockError): void {
    const until = instantText(this.#deadline)
    this.#note("full", `the lease can't be renewed, and the command may go on until ${until}: ${error.message}`)
  }

  #earliest(): Lease {
    return this.#work.leases.reduce((first, each) => (each.deadline < first.deadline ? each : first))
  }

  /** No renewal came through, and the lease ends in `lead`: the command must have ended by then. */
  #ending(): void {
    const { key } = this.#earliest()
    const { wall } = this.#work.clock.read()
    this.#lost ??= new LockLostError({
      key,
      reason: "expired",
      since: wall,
      message: `The lease on ${JSON.stringify(key)} was lost: it was not renewed in time`,
      next: "Look at the store and the way to it; what reached others since then is fenced by the token alone",
    })
    if (wall >= this.#deadline) return this.#killLost() // this process stood still
    this.#terminate(this.#deadline - wall)
    this.#note("losing", "the lease is not renewed in time: the command is told to end")
  }

  /** A lease is lost. Where another may own the key already the command is killed at once. */
  #lose(lost: LockLostError): void {
    if (this.#over) return
    this.#lost ??= lost
    this.#write()
    if (lost.reason === "expired" || lost.reason === "taken") return this.#killLost()
    this.#terminate(Math.min(this.#deadline - this.#work.clock.read().wall, this.#lead))
    this.#note("lost", "the lease is lost: the command is told to end")
  }

  #killLost(): void {
    this.#kill()
    this.#note("lost", "the lease is lost: the command is killed")
  }

  /** The guardian has ended. If this process were killed now nothing would end the command. */
  #unguarded(): void {
    if (this.#over) return
    this.#terminate(this.#lead)
    this.#note("unguarded", "the command's guardian was ended: the command is told to end")
  }

  /**
   * SIGTERM now, SIGKILL after `grace` ms. A second call can only bring the end nearer. SIGCONT lets a stopped group
   * end.
   */
  #terminate(grace: number): void {
    const { group, clock } = this.#work
    group.signal("SIGTERM")
    group.signal("SIGCONT")
    const killing = clock.after(grace, () => this.#kill())
    this.#endings.push({ [Symbol.dispose]: () => killing.cancel() })
  }

  #kill(): void {
    if (!this.#over) this.#work.group.signal("SIGKILL")
  }

  /** Ends what the command left in its group: the key is released next. */
  async #empty(): Promise<void> {
    if (!this.#work.group.isThere()) return
    const grace = Math.min(this.#work.settings.grace, this.#lead)
    this.#terminate(grace)
    if (!(await this.#empties(grace))) await this.#empties(Infinity)
  }

  /** Whether the group is empty after `ms` at the latest. */
  async #empties(ms: number): Promise<boolean> {
    const { group } = this.#work
    let left = ms
    for (let pause = LOOK_MS; left > 0; pause = Math.min(2 * pause, LONGEST_LOOK)) {
      await sleep(this.#work.clock, Math.min(pause, left))
      if (!group.isThere()) return true
      left -= pause
      if (ms === Infinity && pause === LONGEST_LOOK)
        this.#note("staying", `process group ${group.id} doesn't end: the key is kept until it does`)
    }
    return false
  }

  /** Writes the lease file. Where that fails, as on a full disk, the lease goes on. */
  #write(): void {
    try {
      this.#work.file.write(this.#work.leases, this.#work.owner)
    } catch (error) {
      this.#note("leaseFile", `LEASEHOLD_LEASE_FILE can't be kept current: ${String(error)}`)
    }
  }

  /** Tells the user of an event, once for each kind. */
  #note(event: string, message: string): void {
    if (this.#noted.has(event)) return
    this.#noted.add(event)
    this.#work.note(event, message)
  }
}
