/**
 * The keys of one run: acquired together, in one order for all runs, and released together. Doesn't renew them and
 * doesn't watch them: their leases do the one, the supervision the other.
 */
import { existsSync } from "node:fs"
import { InvalidConfigError } from "../../locks/api/errors.ts"
import type { AcquireOptions, Lease } from "../../locks/api/lock.ts"
import { thisProcess } from "../../locks/engine/incarnation.ts"
import { guardOf } from "../../locks/engine/options.ts"
import { allOrNone, inOneOrder } from "../../locks/lock/several.ts"
import { StoreLock } from "../../locks/lock/store-lock.ts"
import type { LeaseStore } from "../../locks/stores/port.ts"
import { UsageError, usageError } from "../errors/usage-error.ts"
import { moment } from "../frame/moments.ts"
import type { Call } from "../frame/syntax.ts"
import { cleared } from "../process/clearing.ts"
import type { ReleaseRequests } from "./release-requests.ts"
import type { RunSettings } from "./settings.ts"

/** What an acquisition needs beside the settings. */
export interface RunAcquisition {
  /** The command's process group, where it stands already: the very write that takes a key names it. */
  readonly groups: readonly number[]
  /** Takes what others ask from the moment of the acquisition on. */
  readonly requests: ReleaseRequests
  /** Ends the wait. */
  readonly signal: AbortSignal
}

export class RunKeys {
  readonly names: readonly string[]
  /** The incarnation that will own them. */
  readonly owner: string
  readonly #call: Call
  readonly #store: LeaseStore
  readonly #settings: RunSettings
  readonly #locks: readonly StoreLock[]

  /** Throws InvalidConfigError for what no store can have as a key. */
  constructor(call: Call, store: LeaseStore, settings: RunSettings) {
    this.#call = call
    this.#store = store
    this.#settings = settings
    this.names = inOneOrder(call.operands)
    const { clock } = call.io
    this.#locks = this.names.map((key) => new StoreLock(key, { store, clock, ttl: settings.ttl }))
    this.owner = thisProcess(store).id
  }

  /**
   * Throws UsageError where this run is a part of one that owns a key: it would wait for itself. The key is the same
   * one of the same store where its record names the owner that the environment does. The outer run is at work while
   * its lease file is there.
   */
  async refuseNested(): Promise<void> {
    const { LEASEHOLD_OWNER: outer, LEASEHOLD_LEASE_FILE: file } = this.#call.io.env
    if (outer === undefined || file === undefined || !existsSync(file)) return
    for (const lock of this.#locks) {
      const owner = await lock.peek().catch(() => undefined) // the wait says what is wrong with the store
      if (owner?.ownerId !== outer) continue
      throw new UsageError(
        `The key ${JSON.stringify(lock.key)} is owned by the run that this one is a part of`,
        "Leave this run out, since its command is under the key already, or name another key",
      )
    }
  }

  /**
   * Acquires all of them or none. Rejects as a lock's `acquire` does, once the store is clear of what the wait left
   * there.
   */
  async acquire(acquisition: RunAcquisition): Promise<readonly Lease[]> {
    try {
      return await this.#acquire(acquisition)
    } catch (error) {
      await cleared(this.#store, this.#call.io.clock)
      throw error instanceof InvalidConfigError && error.key !== "" ? usageError(error) : error // its ttl, by a flag
    }
  }

  #acquire({ groups, requests, signal }: RunAcquisition): Promise<readonly Lease[]> {
    for (const lock of this.#locks) {
      lock.events$.subscribe((event) => {
        if (event.type === "ReleaseRequested") requests.add(event.waiterId)
      })
    }
    const { budget, asks, queues } = this.#settings
    const options: AcquireOptions = {
      ...budget,
      signal,
      observer: this.#call.output.waits(),
      whenOwned: asks ? "request" : "wait",
      contention: queues ? "retry" : "fail",
    }
    return allOrNone(this.#locks, (lock, from) => lock.acquireSince(from, options, groups), this.#call.io.clock)
  }

  /** Releases them. Of each that may stay owned the user is told until when it may. */
  async release(leases: readonly Lease[]): Promise<void> {
    await Promise.all(leases.toReversed().map((lease) => this.#release(lease)))
  }

  async #release(lease: Lease): Promise<void> {
    if ((await lease.release()) !== "unknown") return
    const { output, io } = this.#call
    // Another process may count from later than this one, by the guard.
    const until = lease.deadline + guardOf(this.#settings.ttl, this.#store.capabilities)
    const when = moment(until, io.clock.read().wall)
    const message = `the release of ${JSON.stringify(lease.key)} is not known to have reached the store: others may have to wait until ${when}`
    output.note("unreleased", message, { key: lease.key, until: Math.round(until) })
  }
}
