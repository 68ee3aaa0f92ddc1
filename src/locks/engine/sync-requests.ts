/**
 * The requests of one key on a store that answers at once. Each is sent when the step that asked for it is complete and
 * told of, and before the call that caused the step returns: a release is written by then.
 */
import type { Clock } from "../../runtime/time/clock.ts"
import type { Command, Input } from "../protocol/rules/state.ts"
import type { StoreRequest } from "./key-requests.ts"

/** After so many in a row, as where many processes contend, the event loop has its turn. */
const IN_A_ROW = 16

/** What requests are sent by. */
export interface SyncRequestsParts {
  readonly clock: Clock
  /** Asks the store. */
  send(request: StoreRequest): Input
  /** Takes the answer in. */
  answered(answer: Input): void
}

/** Those of one key. */
export class SyncRequests {
  readonly #parts: SyncRequestsParts
  /** None while none is queued. */
  #requests: StoreRequest[] | undefined
  #sending = false

  constructor(parts: SyncRequestsParts) {
    this.#parts = parts
  }

  /** Queues a request for the next `flush`. One that is abandoned before is not sent. */
  add(command: Command): void {
    if (command.type === "abandon") this.#requests = this.#requests?.filter(({ id }) => id !== command.id)
    else if (this.#requests === undefined) this.#requests = [command]
    else this.#requests.push(command)
  }

  /** Sends what is queued, and what the answers ask for. */
  flush(): void {
    if (this.#sending) return
    this.#sending = true
    try {
      for (let sent = 0; sent < IN_A_ROW; sent++) {
        const request = this.#next()
        if (request === undefined) return
        this.#parts.answered(this.#parts.send(request))
      }
    } finally {
      this.#sending = false
    }
    this.#parts.clock.soon(() => this.flush())
  }

  #next(): StoreRequest | undefined {
    const request = this.#requests?.shift()
    if (this.#requests?.length === 0) this.#requests = undefined
    return request
  }
}
