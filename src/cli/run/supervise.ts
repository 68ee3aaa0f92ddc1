/**
 * A command at work under its leases. While they are renewed it may work; when they are about to end its process group gets
 * SIGTERM, and SIGKILL before they are over for others. Whoever asks for a key is answered as the user wants.
 *
 * Not promised: that a process which left the group (a daemon with a session of its own) ends.
 */
import { spawn } from "node:child_process"
import process from "node:process"
import type { LockError } from "../../locks/errors.ts"
import type { Lease } from "../../locks/lock.ts"
import type { Clock, Timer } from "../../runtime/clock.ts"
import { type Exit, groupIsThere, signalGroup } from "./gate.ts"
import type { Guardian } from "./guardian.ts"
import type { LeaseFile } from "./lease-file.ts"
import type { Wish } from "./wish.ts"

/** What is passed on to the command. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const
/** The longest from SIGTERM to SIGKILL when a lease ends, in ms. */
const LONGEST_LEAD = 5000
/** How often to look whether a group is empty, in ms. */
const LOOK_MS = 5

/** What runs, and by what right. */
export interface Work {
  readonly leases: readonly Lease[]
  readonly group: number
  readonly ended: Promise<Exit>
  readonly guardian: Guardian
  readonly file: LeaseFile
  /** The incarnation that owns the keys. */
  readonly owner: string
  /** The environment of the command. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly wish: Wish
  readonly clock: Clock
  /** Tells the user. */
  readonly note: (event: string, message: string) => void
}

/** How a command ended, and the loss of its lease, if that ended it. */
export interface Outcome {
  readonly exit: Exit
  readonly lost: LockError | undefined
}

/** Watches over one command, from before it is let in until its group is empty. */
export class Supervision implements Disposable {
  readonly #work: Work
  readonly #lead: number
  readonly #endings: Disposable[] = []
  #deadline: number
  #warning: Timer | undefined
  #lost: LockError | undefined
  #over = false

  constructor(work: Work) {
    this.#work = work
    this.#lead = Math.min(LONGEST_LEAD, work.wish.ttl / 6)
    this.#deadline = this.#earliest()
    for (const lease of work.leases) this.#follow(lease)
    for (const signal of SIGNALS) this.#passOn(signal)
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
    this.#over = true
    this.#work.guardian.dismiss()
    return { exit, lost: this.#lost }
  }

  /** Another asked for a key. */
  requested(waiterId: string): void {
    const { wish, group, env, note } = this.#work
    if (this.#over || this.#lost !== undefined) return
    switch (wish.onRequest.do) {
      case "ignore":
        return
      case "term":
        note("requested", `${JSON.stringify(waiterId)} asks for the key: the command is told to end`)
        return this.#terminate(wish.grace)
      case "exec":
        note("requested", `${JSON.stringify(waiterId)} asks for the key`)
        spawn("/bin/sh", ["-c", wish.onRequest.line], {
          env: { ...env, LEASEHOLD_WAITER: waiterId, LEASEHOLD_GROUP: String(group) },
          stdio: ["ignore", "inherit", "inherit"],
        }).on("error", (error) => note("requested", `--on-request failed: ${error.message}`))
    }
  }

  [Symbol.dispose](): void {
    this.#over = true
    this.#warning?.cancel()
    for (const ending of this.#endings) ending[Symbol.dispose]()
  }

  #follow(lease: Lease): void {
    const events = lease.events$.subscribe(({ type }) => {
      if (type === "Renewed" || type === "Recovered") this.#renewed()
    })
    const lost = (): void => this.#lose(lease.signal.reason)
    lease.signal.addEventListener("abort", lost, { once: true })
    this.#endings.push({
      [Symbol.dispose]: () => {
        events.unsubscribe()
        lease.signal.removeEventListener("abort", lost)
      },
    })
    if (lease.signal.aborted) lost()
  }

  #passOn(signal: NodeJS.Signals): void {
    const pass = (): void => void signalGroup(this.#work.group, signal)
    process.on(signal, pass)
    this.#endings.push({ [Symbol.dispose]: () => void process.off(signal, pass) })
  }

  /** The command may work on until the earliest of the deadlines. */
  #renewed(): void {
    if (this.#over || this.#lost !== undefined) return
    const { clock, guardian, file, leases, owner } = this.#work
    this.#deadline = this.#earliest()
    guardian.allow(this.#deadline)
    file.write(leases, owner)
    this.#warning?.cancel()
    this.#warning = clock.after(this.#deadline - this.#lead - clock.read().wall, () => this.#ending())
  }

  readonly #earliest = (): number => Math.min(...this.#work.leases.map((lease) => lease.deadline))

  /** No renewal came through for long: what works must have ended when the lease does. */
  #ending(): void {
    this.#work.note("losing", "the lease is not renewed in time: the command is told to end")
    this.#terminate(this.#deadline - this.#work.clock.read().wall)
  }

  #lose(reason: unknown): void {
    if (this.#over || this.#lost !== undefined) return
    this.#lost = reason as LockError
    this.#work.note("lost", "the lease is lost: the command is told to end")
    const left = this.#deadline - this.#work.clock.read().wall
    this.#terminate(Math.max(0, Math.min(left, this.#lead)))
  }

  /** Nobody would kill the command if this process were. */
  #unguarded(): void {
    if (this.#over) return
    this.#work.note("unguarded", "the command's guardian was ended: the command is told to end")
    this.#terminate(this.#lead)
  }

  /** SIGTERM now, SIGKILL after `grace`. A second reason can only bring the end nearer. */
  #terminate(grace: number): void {
    const { group, clock } = this.#work
    signalGroup(group, "SIGTERM")
    signalGroup(group, "SIGCONT")
    clock.after(grace, () => this.#kill())
  }

  #kill(): void {
    if (!this.#over) signalGroup(this.#work.group, "SIGKILL")
  }

  /** What the command left in its group ends with it: the key is another's soon. */
  async #empty(): Promise<void> {
    const { group } = this.#work
    if (!groupIsThere(group)) return
    this.#terminate(Math.min(this.#work.wish.grace, this.#lead))
    while (groupIsThere(group)) await this.#pause(LOOK_MS)
  }

  #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#work.clock.after(ms, resolve)
    return promise
  }
}
