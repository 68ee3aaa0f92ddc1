/**
 * The identity of a lease store, which tells it from all others of its name. It is written into the store when a
 * manager first starts on it, with a mark for each boot under which one did. Heads carry both: two processes whose
 * leases lie in different places never take over each other's saved state. Owns these objects; what follows from them
 * is decided by the heads.
 *
 *     store/identity          {"v":1,"identity":"<chance>"}, created once, never written again
 *     store/boot-<boot id>    likewise, where the store's time is one machine's; a copy of the machine's disk has the
 *                             same identity, but no mark of the other copy's boot
 *
 * Not promised: that two stores are told apart where one is a copy of the other, made on the same boot. Where the
 * identity was deleted by hand, the next manager to start makes another, and the heads of the one before have to be
 * adopted.
 */
import type { Clock } from "../../runtime/time/clock.ts"
import { sleep } from "../../runtime/time/sleep.ts"
import { type LockError, StoreMisconfiguredError, StoreUnavailableError } from "../api/errors.ts"
import { encodeName } from "../api/keys.ts"
import { ABSENT, type ObjectRef, type ObjectStore } from "./port.ts"
import { RETRY_AFTER_MS, withinStart } from "./start.ts"

/** The lease store under whose leases a head is written. */
export interface LeaseOrigin {
  /** The lease store's name. */
  readonly leases: string
  /** Its identity. Heads of older releases have none. */
  readonly leasesId?: string | undefined
  /** The boot of its writer, where the store's time belongs to one. */
  readonly leasesBoot?: string | undefined
}

/** A lease store, as this process has found it. */
export interface StoreIdentity {
  readonly origin: LeaseOrigin
  /** Whether a manager has started on this store under that boot. Rejects as a store that can't be asked. */
  readonly knows: (boot: string) => Promise<boolean>
}

/** How long one request may take, in milliseconds. */
const REQUEST_MS = 5000
/** In bytes. The body has about 50. */
const LIMIT = 1024
const SYNTAX = /^[A-Za-z0-9._-]{1,100}$/
const IDENTITY: ObjectRef = { area: "store", name: "identity" }

const identities = new WeakMap<ObjectStore, Promise<StoreIdentity>>()

/**
 * The identity of a store that has started. Where there is none it is made, by two requests instead of one. A failure
 * isn't remembered. `by`: a view that passes these requests on to the store, such as a recording one. Rejects with
 * StoreUnavailableError or StoreMisconfiguredError.
 */
export function identityOf(store: ObjectStore, clock: Clock, by: ObjectStore = store): Promise<StoreIdentity> {
  const known = identities.get(store)
  if (known !== undefined) return known
  const identity = withinStart(store, clock, (deadline) =>
    identify(new StoreMarks(by, clock, deadline), new StoreMarks(store, clock, deadline)),
  )
  identities.set(store, identity)
  identity.catch(() => identities.delete(store))
  return identity
}

/** `later`: for requests after this one has settled. */
async function identify(marks: StoreMarks, later: StoreMarks): Promise<StoreIdentity> {
  const { store } = marks
  const { bootId } = store.capabilities
  const leasesId = await marks.leave(IDENTITY)
  if (bootId !== undefined) await marks.leave(bootMark(bootId))
  const known = new Set<string>()
  return {
    origin: { leases: store.name, leasesId, leasesBoot: bootId },
    knows: async (boot) => {
      if (!known.has(boot) && (await later.read(bootMark(boot))) !== undefined) known.add(boot)
      return known.has(boot)
    },
  }
}

const bootMark = (boot: string): ObjectRef => ({ area: "store", name: `boot-${encodeName(boot)}` })

/** Objects that are created once, by the process that comes first. */
class StoreMarks {
  readonly store: ObjectStore
  readonly #clock: Clock
  readonly #due: number

  constructor(store: ObjectStore, clock: Clock, deadline: number) {
    this.store = store
    this.#clock = clock
    this.#due = clock.mono() + deadline
  }

  /** The content of the object, which is created where there is none. */
  async leave(ref: ObjectRef): Promise<string> {
    const mine = this.#clock.id()
    let trouble: LockError | undefined
    for (;;) {
      const said = await this.#patiently(() => this.read(ref))
      if (said !== undefined) return said
      if (trouble !== undefined) await this.#pause(trouble)
      const answer = await this.store.put(ref, ABSENT, format(mine), { deadline: REQUEST_MS })
      if (answer.kind === "applied") return mine
      trouble = answer.kind === "unknown" ? answer.error : contradicts(this.store, ref)
    }
  }

  /** The content of the object; undefined where there is none. */
  async read(ref: ObjectRef): Promise<string | undefined> {
    const answer = await this.store.read(ref, { deadline: REQUEST_MS, limit: LIMIT })
    if (answer.kind === "failed") throw answer.error
    if (answer.kind === "absent") return undefined
    const said = answer.kind === "found" ? parse(answer.body) : undefined
    if (said === undefined) throw unreadable(this.store, ref)
    return said
  }

  async #patiently<A>(ask: () => Promise<A>): Promise<A> {
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        await this.#pause(error as LockError)
      }
    }
  }

  /** Waits before the next try, or throws where none can help. */
  async #pause(error: LockError): Promise<void> {
    if (error.retryable !== true || this.#clock.mono() + RETRY_AFTER_MS >= this.#due) throw error
    await sleep(this.#clock, RETRY_AFTER_MS)
  }
}

const format = (identity: string): Uint8Array => new TextEncoder().encode(`${JSON.stringify({ v: 1, identity })}\n`)

/** Undefined for a body of another form: anything may have been written there. */
function parse(body: Uint8Array): string | undefined {
  try {
    const { identity } = JSON.parse(new TextDecoder().decode(body)) as { identity?: unknown }
    return typeof identity === "string" && SYNTAX.test(identity) ? identity : undefined
  } catch {
    return undefined
  }
}

function unreadable({ name }: ObjectStore, ref: ObjectRef): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: `${ref.area}/${ref.name} in ${name} should tell this store from others, and can't be read as that`,
    next: "Stop every manager on this store, delete that object, then start them with adoptHeads once",
  })
}

function contradicts({ name }: ObjectStore, ref: ObjectRef): StoreUnavailableError {
  return new StoreUnavailableError({
    message: `${name} neither shows ${ref.area}/${ref.name} nor lets it be created`,
    next: "Check that no cache lies between this process and the store, then try again",
  })
}
