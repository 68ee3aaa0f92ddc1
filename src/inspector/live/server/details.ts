/**
 * One sandbox as a whole, and what is asked of it: done here where it is this worker's own, else asked of the worker
 * that has it. What that one says is checked, and where it says nothing, what is known here is told.
 */
import { checkedDetail } from "../model/checked.ts"
import type { Fleet } from "../model/fleet.ts"
import { type LiveRow, rowOf } from "../model/live-row.ts"
import type { ActionAnswer, ActionRequest, SandboxDetail } from "../model/wire.ts"
import type { LiveWorker } from "../workers/live-worker.ts"
import type { WholeFleet } from "../workers/peers.ts"

/** Tells of sandboxes of the fleet. */
export class Details {
  readonly #worker: LiveWorker
  readonly #fleet: WholeFleet
  readonly #known: () => Fleet | undefined

  /** `known`: the fleet as the page has it, while somebody looks. */
  constructor(worker: LiveWorker, fleet: WholeFleet, known: () => Fleet | undefined) {
    this.#worker = worker
    this.#fleet = fleet
    this.#known = known
  }

  /** One of this worker's own; undefined where there is none. */
  async own(key: string): Promise<SandboxDetail | undefined> {
    const seen = this.#known()?.find(this.#worker.worker, key)
    const row = this.#worker.find(key) ?? (seen === undefined ? undefined : rowOf(seen))
    if (row === undefined) return undefined
    const [store, machine] = await Promise.all([this.#worker.recordOf(key), this.#worker.machineOf(key)])
    return { row, store, ...edgesOf(seen), ...machine }
  }

  /** One of any worker. */
  async of(worker: string, key: string): Promise<SandboxDetail | undefined> {
    if (worker === this.#worker.worker) return this.own(key)
    const told = await this.#asked(worker, key)
    const seen = this.#known()?.find(worker, key)
    if (told === undefined && seen === undefined) return undefined
    const row = told?.row ?? rowOf(seen!)
    const store = await this.#worker.recordOf(key)
    const { machine = null, machineProblem = null } = told ?? {}
    return { ...{ row: { ...row, worker }, store, machine, machineProblem }, ...edgesOf(seen) }
  }

  /** Does it here, or has it done. Never rejects. */
  async act(request: ActionRequest): Promise<ActionAnswer> {
    if (request.worker === this.#worker.worker) return this.#worker.act(request)
    const peer = this.#fleet.peer(request.worker)
    if (peer === undefined) return { done: false, message: `Worker ${request.worker} isn't known here, or no longer.` }
    try {
      return answerOf(await peer.ask("/action", JSON.stringify(request)))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return { done: false, message: `Worker ${request.worker} doesn't say whether it was done: ${why}` }
    }
  }

  async #asked(worker: string, key: string): Promise<SandboxDetail | undefined> {
    try {
      const query = new URLSearchParams({ worker, key }).toString()
      return checkedDetail(await this.#fleet.peer(worker)?.ask(`/sandbox?${query}`))
    } catch {
      return undefined // what is known here is told, and the worker's own row says that it doesn't answer
    }
  }
}

const edgesOf = (row: LiveRow | undefined): Pick<SandboxDetail, "edges" | "lastEdge"> => ({
  edges: row?.edges ?? {},
  lastEdge: row?.lastEdge ?? null,
})

function answerOf(value: unknown): ActionAnswer {
  const { done, message, error } = Object(value) as { done?: unknown; message?: unknown; error?: unknown }
  const said = [message, error].find((text) => typeof text === "string")
  return {
    done: done === true,
    message: typeof said === "string" ? said.slice(0, LONGEST_ANSWER) : "It doesn't say why.",
  }
}

/** In characters: a sentence or two. */
const LONGEST_ANSWER = 1000
