/**
 * A command at work under its leases. While they are renewed it may work; when they are about to end its process group gets
 * SIGTERM, and SIGKILL before they are over for others; where they may be another's already it gets SIGKILL at once. Whoever
 * asks for a key is answered as the user wants. What is done is done first, and told afterwards.
 *
 * Not promised: that a process which left the group (a daemon with a session of its own) ends, nor one that this user may not
 * signal. For the latter the key is kept until it has ended, as long as the lease can be renewed.
 */
import { type LockError, LockLostError } from "../../locks/api/errors.ts"
import type { Lease } from "../../locks/api/lock.ts"
import { lacksRoom } from "../../locks/stores/room.ts"
import type { Clock, Timer } from "../../runtime/time/clock.ts"
import { instantText } from "../frame/moments.ts"
import type { Hooks } from "./hook.ts"
import type { LeaseFile } from "./lease-file.ts"
import type { Exit } from "./process/gate.ts"
import type { WorkGroup } from "./process/group.ts"
import type { Guardian } from "./process/guardian.ts"
import type { Wish } from "./wish.ts"

/** The longest from SIGTERM to SIGKILL when a lease ends, in ms. */
const LONGEST_LEAD = 5000
/** How long to wait before looking whether a group is empty, in ms: doubled each time, up to the longest. */
const LOOK_MS = 5
const LONGEST_LOOK = 1000

/** What runs, and by what right. */
export interface Work {
  readonly leases: readonly Lease[]
  readonly group: WorkGroup
  readonly ended: Promise<Exit>
  readonly guardian: Pick<Guardian, "gone" | "allow" | "dismiss">
  readonly file: Pick<LeaseFile, "write">
  readonly hooks: Pick<Hooks, "start">
  /** The incarnation that owns the keys. */
  readonly owner: string
  /** The environment of the command, but for the tokens and the deadline, which it is told as it begins. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly wish: Pick<Wish, "ttl" | "grace" | "onRequest">
  readonly clock: Clock
  /** Tells the user, always after what it tells of was done. */
  readonly note: (event: string, message: string) => void
}

/** How a command ended, and the loss of its lease, if that ended it. */
export interface Outcome {
  readonly exit: Exit
  readonly lost: LockLostError | undefined
}

/** Watches over one command, from before it is let in until its group is empty. */
export class Supervision implements Disposable {
  readonly #work: Work
  readonly #lead: number
  readonly #endings: Disposable[] = []
  readonly #noted = new Set<string>()
  #deadline: number
  #warning: Timer | undefined
  #lost: LockLostError | undefined
  #over = false

  constructor(work: Work) {
    this.#work = work
    this.#lead = Math.min(LONGEST_LEAD, work.wish.ttl / 6)
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
  async finish(): Promise<Outcome> {
    const exit = await this.#work.ended
    await this.#empty()
    this.#askLeases()
    this.#over = true
    this.#work.guardian.dismiss()
    return { exit, lost: this.#lost }
  }

  /** A guardian that killed in time may be heard of before the timers that were due while this process stood still. */
  #askLeases(): void {
    for (const { signal } of this.#work.leases) if (signal.aborted) this.#lost ??= signal.reason as LockLostError
  }

  /** Another asked for a key. */
  requested(waiterId: string): void {
    const { wish, note } = this.#work
    if (this.#over || this.#lost !== undefined) return
    switch (wish.onRequest.do) {
      case "ignore":
        return
      case "term":
        this.#terminate(wish.grace)
        return note("requested", `${JSON.stringify(waiterId)} asks for the key: the command is told to end`)
      case "exec": {
        const failed = (error: unknown): void => note("requested", `--on-request failed: ${String(error)}`)
        this.#work.hooks.start(wish.onRequest.line, this.#hookEnv(waiterId), failed)
        note("requested", `${JSON.stringify(waiterId)} asks for the key`)
      }
    }
  }

  /** As the command's, of the leases as they are now: what an outer run says of its own is not for it. */
  #hookEnv(waiterId: string): Readonly<Record<string, string | undefined>> {
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

  /** The command may work on until the earliest of the deadlines. What was told to end is not let run on. */
  #renewed(): void {
    if (this.#over || this.#lost !== undefined) return
    const { clock, guardian } = this.#work
    this.#deadline = this.#earliest().deadline
    guardian.allow(this.#deadline)
    this.#warning?.cancel()
    this.#warning = clock.after(this.#deadline - this.#lead - clock.read().wall, () => this.#ending())
    this.#write()
  }

  /** Somebody has to make room, and has as long as the lease lasts. */
  #full(error: LockError): void {
    const until = instantText(this.#deadline)
    this.#note("full", `the lease can't be renewed, and the command may go on until ${until}: ${error.message}`)
  }

  #earliest(): Lease {
    return this.#work.leases.reduce((first, each) => (each.deadline < first.deadline ? each : first))
  }

  /** No renewal came through for long: what works must have ended when the lease does. */
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

  /** Where another may be at work already nothing is left to wait for. */
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

  /** Nobody would kill the command if this process were. */
  #unguarded(): void {
    if (this.#over) return
    this.#terminate(this.#lead)
    this.#note("unguarded", "the command's guardian was ended: the command is told to end")
  }

  /** SIGTERM now, SIGKILL after `grace`. A second reason can only bring the end nearer. */
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

  /** What the command left in its group ends with it: the key is another's soon. */
  async #empty(): Promise<void> {
    if (!this.#work.group.isThere()) return
    const grace = Math.min(this.#work.wish.grace, this.#lead)
    this.#terminate(grace)
    if (!(await this.#empties(grace))) await this.#empties(Infinity)
  }

  /** Whether the group is empty after `ms` at the latest. */
  async #empties(ms: number): Promise<boolean> {
    const { group } = this.#work
    let left = ms
    for (let pause = LOOK_MS; left > 0; pause = Math.min(2 * pause, LONGEST_LOOK)) {
      await this.#pause(Math.min(pause, left))
      if (!group.isThere()) return true
      left -= pause
      if (ms === Infinity && pause === LONGEST_LOOK)
        this.#note("staying", `process group ${group.id} doesn't end: the key is kept until it does`)
    }
    return false
  }

  /** A disk that is full takes the file from the command, not the lease. */
  #write(): void {
    try {
      this.#work.file.write(this.#work.leases, this.#work.owner)
    } catch (error) {
      this.#note("leaseFile", `LEASEHOLD_LEASE_FILE can't be kept current: ${String(error)}`)
    }
  }

  /** Once for each event. */
  #note(event: string, message: string): void {
    if (this.#noted.has(event)) return
    this.#noted.add(event)
    this.#work.note(event, message)
  }

  #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#work.clock.after(ms, resolve)
    return promise
  }
}
