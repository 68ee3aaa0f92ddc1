// What the tests of sandboxes share: one virtual clock, one scripted memory store, and managers that contend on it like
// processes, each under an incarnation of its own.
import type { LockEvent } from "../../src/locks/api/lock.ts"
import { memoryStore } from "../../src/locks/stores/memory-store.ts"
import type { CheckpointStore, LeaseStore } from "../../src/locks/stores/port.ts"
import {
  type AnyDefinition,
  defineSandbox,
  type ManagerOptions,
  type Sandbox,
  type SandboxDefinition,
  type SandboxHooks,
  SandboxManager,
  unchecked,
} from "../../src/mod.ts"
import type { Clock } from "../../src/runtime/time/clock.ts"
import { VirtualHost } from "../../src/runtime/time/virtual-host.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"
import { expectRest, failure } from "../support/lock-world.ts"
import { scripted, type ScriptedStore } from "../support/scripted-store.ts"

export interface Count {
  n: number
}
export type Counter = SandboxDefinition<Count, Count>

/** A counter, with the hooks that a test is about. */
export const counter = (hooks: Partial<Omit<SandboxHooks<Count, Count, Count>, "schema">> = {}): Counter =>
  defineSandbox({
    name: "counter",
    schema: unchecked<Count>(),
    restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
    checkpoint: ({ n }) => ({ n }),
    ...hooks,
  })

export type Overrides = Partial<Omit<ManagerOptions, "sandboxes">>

export class World {
  readonly time: VirtualTime = new VirtualTime()
  readonly store: ScriptedStore
  /** What went to onError of any manager. */
  readonly errors: unknown[] = []
  readonly events: LockEvent[] = []
  readonly managers: SandboxManager[] = []

  readonly #memory: LeaseStore & CheckpointStore

  constructor() {
    this.#memory = memoryStore({ clock: this.time })
    this.store = this.wire()
  }

  /** A way of its own to the one store, for a process that is to be cut off alone. */
  wire(): ScriptedStore {
    return scripted(this.#memory, this.time)
  }

  /** A manager that hears requests at once, unless told otherwise. */
  async manager(
    id: string,
    sandbox: AnyDefinition | readonly AnyDefinition[],
    overrides: Overrides = {},
  ): Promise<SandboxManager> {
    const manager = await this.run(
      SandboxManager.start({
        store: this.store,
        sandboxes: Array.isArray(sandbox) ? sandbox : [sandbox],
        clock: this.time,
        incarnation: { id },
        minTenure: 0,
        onError: (error: unknown) => void this.errors.push(error),
        ...overrides,
      } as unknown as ManagerOptions),
    )
    manager.events$.subscribe((event) => void this.events.push(event))
    this.managers.push(manager)
    return manager
  }

  /** A process of its own, to be killed, paused or suspended. */
  host(name: string): VirtualHost & Clock {
    return new VirtualHost(this.time, { name })
  }

  /** Advances until the promise settles. */
  run<A>(promise: Promise<A>): Promise<A> {
    return this.time.runUntil(promise)
  }

  /** What it rejects with, once time has brought it there. */
  failure(promise: Promise<unknown>): Promise<unknown> {
    return this.run(failure(promise))
  }

  /** How long it takes, in virtual milliseconds. */
  async took(promise: Promise<unknown>): Promise<number> {
    const from = this.time.mono()
    await this.run(promise)
    return this.time.mono() - from
  }

  /** What is saved of a counter. */
  saved(sandbox: Counter, key: string): Promise<Count | undefined> {
    return this.run(this.managers[0]!.readCheckpoint(sandbox, key))
  }

  /** How many writes the head of a key has had. */
  headWrites(key: string): number {
    const name = `${key.replaceAll("/", "=2f")}/head`
    return this.store.script.requests.filter(
      (request) => request.op === "put" && request.area === "state" && request.name.endsWith(name),
    ).length
  }

  /** The events of one process, as their types. */
  told(id: string): readonly string[] {
    return this.events.filter(({ ownerId }) => ownerId === id).map(({ type }) => type)
  }

  /** Disposes all managers; then nothing may be left. */
  async end(): Promise<void> {
    for (const manager of this.managers) await this.run(manager[Symbol.asyncDispose]())
    await expectRest(this.time)
  }
}

/** The states that a sandbox goes through, `owning.running.healthy` and the like, each noted once in a row. */
export const statesOf = (sandbox: Pick<Sandbox<unknown>, "state$">): string[] => {
  const states: string[] = []
  sandbox.state$.subscribe(({ value }) => {
    const [[state, inner]] = Object.entries(value) as [[string, string | { work: string; lease: string }]]
    const name = typeof inner === "string" ? `${state}.${inner}` : `${state}.${inner.work}.${inner.lease}`
    if (states.at(-1) !== name) states.push(name)
  })
  return states
}

/** From now on nothing that is sent over this way arrives, and nobody is told. */
export const cutOff = ({ script }: ScriptedStore): void => {
  for (let request = 0; request < 500; request++) {
    script.onRead({ before: "lost" })
    script.onPut({ before: "lost" })
  }
}

export { failure }

/** A promise that the test settles: what waits for it does so whatever its signal says. */
export const gate = (): PromiseWithResolvers<void> => Promise.withResolvers<void>()
