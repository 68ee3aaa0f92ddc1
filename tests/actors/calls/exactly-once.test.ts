// Durable calls in drawn worlds: messages are lost, doubled, late and overtaken, sandboxes change hands, owners are cut
// off, memories are small. A ledger in the state says how often each call was applied.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  CallTooOldError,
  CallUnknownError,
  defineSandbox,
  LockTimeoutError,
  OwnedElsewhereError,
  type SandboxManager,
  unchecked,
} from "../../../src/mod.ts"
import { cutOff, World } from "../world.ts"
import { Network, type NetworkFault } from "./network.ts"

interface Ledger {
  readonly applied: string[]
}

const ledgerOf = (count: number) =>
  defineSandbox({
    name: "ledger",
    schema: unchecked<Ledger>(),
    restore: ({ checkpoint }) => ({ applied: [...(checkpoint?.applied ?? [])] }),
    checkpoint: ({ applied }) => ({ applied }),
    callMemory: { count },
    calls: {
      add: {
        durable: true,
        handle: (state: Ledger, row: string) => {
          state.applied.push(row)
          return state.applied.length
        },
      },
      rows: { readonly: true, handle: ({ applied }) => [...applied] },
    },
  })

type Step =
  | { readonly kind: "call"; readonly by: number; readonly again: boolean }
  | { readonly kind: "move"; readonly to: number }
  | { readonly kind: "cutOff"; readonly worker: number }
  | { readonly kind: "wait"; readonly ms: number }

const someone = fc.nat(2)
const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("call" as const), by: someone, again: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("move" as const), to: someone }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cutOff" as const), worker: someone }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(3000) }) },
)
const aFault: fc.Arbitrary<NetworkFault | undefined> = fc.oneof(
  { weight: 5, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom<NetworkFault>("lostRequest", "lostAnswer") },
  { weight: 1, arbitrary: fc.record({ doubled: fc.nat(4000) }) },
  { weight: 1, arbitrary: fc.record({ slow: fc.nat(2000) }) },
)

class Fleet {
  readonly world = new World()
  readonly network = new Network(this.world.time)
  readonly ledger
  readonly managers: SandboxManager[] = []
  readonly #wires = [0, 1, 2].map(() => this.world.wire())
  /** What each row's calls came to. */
  readonly told = new Map<string, unknown[]>()
  readonly #open: Promise<unknown>[] = []

  constructor(count: number) {
    this.ledger = ledgerOf(count)
  }

  async start(): Promise<void> {
    for (const [index, store] of this.#wires.entries()) {
      const address = `http://${index}.test`
      const manager = await this.world.manager(`${index}`, this.ledger, { store, address })
      this.network.join(address, manager)
      this.managers.push(manager)
    }
  }

  /** One step. A call goes on beside those that follow. */
  async take(step: Step, row: string): Promise<void> {
    const { time } = this.world
    if (step.kind === "wait") return time.advance(step.ms)
    if (step.kind === "cutOff") return this.#cutOff(step.worker)
    if (step.kind === "call") return this.#call(step.by, row, step.again)
    const moved = this.managers[step.to]!.restoreSandbox(this.ledger, "k", { timeout: "1 min", contention: "retry" })
    this.#open.push(moved.catch(() => {}))
  }

  #cutOff(worker: number): void {
    const wire = this.#wires[worker]!
    cutOff(wire)
    this.world.time.after(20_000, () => wire.script.heal())
  }

  #call(by: number, row: string, again: boolean): void {
    const sentAt = this.world.time.read().wall
    const told: unknown[] = []
    this.told.set(row, told)
    const send = async (worker: number): Promise<void> => {
      const known = { id: row, sentAt, timeout: "2 min" } as const
      const call = this.managers[worker]!.call(this.ledger, "k", "add", row, known)
      told.push(await call.catch((error: unknown) => error))
    }
    this.#open.push(again ? Promise.all([send(by), send((by + 1) % 3)]) : send(by))
  }

  /** All that was asked has settled; then the rows. */
  async end(): Promise<readonly string[]> {
    await this.world.run(Promise.all(this.#open))
    this.network.draw = () => undefined
    await this.world.time.advance(60_000)
    const rows = this.managers[0]!.call(this.ledger, "k", "rows", undefined, { timeout: "3 min" })
    return (await this.world.run(rows)) as readonly string[]
  }
}

describe("durable calls in drawn worlds", () => {
  // Tests calls: A durable call has its effect once, through lost, late and doubled messages, handoffs and losses.
  it("have their effect once where they are answered, and never twice", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(aStep, { minLength: 3, maxLength: 25 }),
        fc.infiniteStream(aFault),
        fc.constantFrom(2, 5, 1000),
        async (steps, faults, count) => {
          const fleet = new Fleet(count)
          await fleet.start()
          fleet.network.draw = () => faults.next().value
          for (const [index, each] of steps.entries()) await fleet.take(each, `row-${index}`)
          const rows = await fleet.end()
          expect(rows.length).toBe(new Set(rows).size)
          for (const [row, told] of fleet.told) {
            const isAnswered = told.some((answer) => typeof answer === "number")
            const others = told.filter((answer) => answer instanceof Error && !isExpected(answer))
            expect({ row, isMissing: isAnswered && !rows.includes(row), others }).toEqual({
              row,
              isMissing: false,
              others: [],
            })
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})

/** Where the world was too bad for too long: an owner that is cut off can't even say where it is. */
const isExpected = (error: Error): boolean =>
  [CallUnknownError, LockTimeoutError, CallTooOldError, OwnedElsewhereError].some((kind) => error instanceof kind)
