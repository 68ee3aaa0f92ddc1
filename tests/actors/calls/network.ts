// A network between managers of one test, on its virtual clock: what is sent crosses as JSON, takes time, and meets the
// faults that the test asks for.
import type { CallRequest, CallResult, CallTransport } from "../../../src/actors/calls/transport.ts"
import { insideOf } from "../../../src/actors/inside/inside.ts"
import type { SandboxManager } from "../../../src/mod.ts"
import { orAbort } from "../../../src/runtime/races.ts"
import { sleep } from "../../../src/runtime/time/sleep.ts"
import type { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

/** What befalls one message. `late` is in milliseconds, and comes beside the answer of the first copy. */
export type NetworkFault = "lostRequest" | "lostAnswer" | { readonly doubled: number } | { readonly slow: number }

/** In milliseconds, each way. */
const WAY = 2

export class Network {
  readonly #time: VirtualTime
  readonly #workers = new Map<string, SandboxManager>()
  readonly #faults: NetworkFault[] = []
  /** What was sent, and where. */
  readonly sent: { readonly to: string; readonly request: CallRequest }[] = []
  /** Of the next messages, where a test draws them. */
  draw: () => NetworkFault | undefined = () => undefined

  constructor(time: VirtualTime) {
    this.#time = time
  }

  /** The worker is reached at this address from now on, and its calls reach the others. */
  join(address: string, manager: SandboxManager): void {
    this.#workers.set(address, manager)
    insideOf(manager).calls.connect(this.#transport)
  }

  /** Nobody is at the address any more. */
  leave(address: string): void {
    this.#workers.delete(address)
  }

  /** Befalls the next message. */
  fault(fault: NetworkFault): void {
    this.#faults.push(fault)
  }

  /** As if it came from a process that is no worker. */
  async ask(to: string, request: Omit<CallRequest, "forwarded">): Promise<CallResult> {
    return this.#deliver(to, { ...request, forwarded: false }, new AbortController().signal)
  }

  readonly #transport: CallTransport = {
    send: async ({ address: to }, request, signal) => {
      this.sent.push({ to, request })
      const fault = this.#faults.shift() ?? this.draw()
      try {
        return await orAbort(this.#cross(to, request, signal, fault), signal)
      } catch (error) {
        return { kind: "unknown", error }
      }
    },
  }

  async #cross(to: string, request: CallRequest, signal: AbortSignal, fault?: NetworkFault): Promise<CallResult> {
    await sleep(this.#time, typeof fault === "object" && "slow" in fault ? fault.slow : WAY)
    if (fault === "lostRequest") return { kind: "unknown", error: new Error("the connection broke") }
    if (typeof fault === "object" && "doubled" in fault) void this.#again(to, request, fault.doubled)
    const result = await this.#deliver(to, request, signal)
    await sleep(this.#time, WAY)
    return fault === "lostAnswer" ? { kind: "unknown", error: new Error("the connection broke") } : result
  }

  /** A copy that comes later, whose answer nobody hears. */
  async #again(to: string, request: CallRequest, ms: number): Promise<void> {
    await sleep(this.#time, ms)
    await this.#deliver(to, request, new AbortController().signal)
  }

  async #deliver(to: string, request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    const worker = this.#workers.get(to)
    if (worker === undefined) return { kind: "unreachable", error: new Error("nobody listens there") }
    const crossed = JSON.parse(JSON.stringify(request)) as CallRequest
    return insideOf(worker).calls.receive(crossed, signal)
  }
}
