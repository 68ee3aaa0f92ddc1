/**
 * The commands of one key's protocol, run: each request is sent to the store, and its answer comes back as an input. A
 * read's answer comes with what this machine knows of the processes that it shows.
 *
 * On a store that answers at once requests wait for the end of the step, and their answers come within `flush`.
 * Elsewhere they are sent at once, and answered later.
 */
import type { Clock } from "../../runtime/time/clock.ts"
import type { Slot } from "../admission/admission.ts"
import type { Command, Input, LockState } from "../protocol/rules/state.ts"
import type { LeaseStore } from "../stores/port.ts"
import { examined } from "./evidence.ts"
import type { KeyRequests, StoreRequest } from "./key-requests.ts"
import { requestDeadline } from "./options.ts"
import { SyncRequests, type SyncRequestsParts } from "./sync-requests.ts"

/** What commands are run with. */
export interface CommandsParts {
  readonly key: string
  readonly store: LeaseStore
  readonly clock: Clock
  readonly requests: KeyRequests
  /** The protocol's state, once there is one. */
  readonly state: LockState | undefined
  /** Takes the answers. */
  onAnswer(answer: Input): void
}

/** Those of one key. */
export class KeyCommands implements SyncRequestsParts {
  readonly #parts: CommandsParts
  readonly #sync: SyncRequests | undefined

  constructor(parts: CommandsParts) {
    this.#parts = parts
    this.#sync = parts.store.prompt && new SyncRequests(this)
  }

  get clock(): Clock {
    return this.#parts.clock
  }

  /** Runs the commands of a step; `slot` is the room for the request among them, where room is counted. */
  run(commands: readonly Command[], { config }: LockState, slot: Slot | undefined): void {
    const { requests } = this.#parts
    for (const command of commands) {
      if (this.#sync !== undefined) this.#sync.add(command)
      else if (command.type === "abandon") requests.abandon(command.id)
      else requests.run(command, requestDeadline(config.ttl), slot, (answer) => this.answered(answer))
    }
  }

  /** Sends what waits for the end of the step. */
  flush(): void {
    this.#sync?.flush()
  }

  /** Asks a store that answers at once. */
  send(request: StoreRequest): Input {
    const { store, requests, state } = this.#parts
    return requests.runNow(store.prompt!, request, requestDeadline(state!.config.ttl))
  }

  /** Takes an answer in. */
  answered(answer: Input): void {
    const { key, store, state } = this.#parts
    if (answer.type !== "read" || store.oracle === undefined) return this.#parts.onAnswer(answer)
    const bootId = state?.config.bootId ?? null
    this.#parts.onAnswer(examined(store.oracle, answer, { key, bootId, view: state?.view }))
  }
}
