/**
 * The requests of one key on a store that answers at once. Each is sent when the step that asked for it is complete and
 * told of, and before the call that caused the step returns: a release is written by then.
 */
import type { Clock } from "../../runtime/time/clock.ts"
import type { Command, Input } from "../protocol/rules/state.ts"
import type { StoreRequest } from "./key-requests.ts"

/** After so many in a row, as where many processes contend, the event loop has its turn. */
const IN_A_ROW = 16

/** Those of one key. */
export class SyncRequests {
  readonly #clock: Clock
  readonly #send: (request: StoreRequest) => Input
  readonly #answered: (answer: Input) => void
  #requests: StoreRequest[] = []
  #sending = false

  constructor(clock: Clock, send: (request: StoreRequest) => Input, answered: (answer: Input) => void) {
    this.#clock = clock
    this.#send = send
    this.#answered = answered
  }

  /** Queues a request for the next `flush`. One that is abandoned before is not sent. */
  add(command: Command): void {
    if (command.type === "abandon") this.#requests = this.#requests.filter(({ id }) => id !== command.id)
    else this.#requests.push(command)
  }

  /** Sends what is queued, and what the answers ask for. */
  flush(): void {
    if (this.#sending) return
    this.#sending = true
    try {
      for (let sent = 0; sent < IN_A_ROW; sent++) {
        const request = this.#requests.shift()
        if (request === undefined) return
        this.#answered(this.#send(request))
      }
    } finally {
      this.#sending = false
    }
    this.#clock.soon(() => this.flush())
  }
}
