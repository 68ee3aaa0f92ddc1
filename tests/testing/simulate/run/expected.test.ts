// Mistakes of a sandbox, a workload or the options: no fault explains them, so a run that comes to one fails.
import { defineSandbox, unchecked } from "leasehold"
import { simulate, SimulationError } from "leasehold/testing"
import { describe, expect, it } from "vitest"
import * as z from "zod"

interface Count {
  n: number
}

const hooks = {
  name: "counter",
  schema: unchecked<Count>(),
  restore: ({ checkpoint }: { readonly checkpoint: Count | undefined }): Count => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }: Count): Count => ({ n }),
}
const counter = defineSandbox(hooks)
const never = z.custom<Count>(() => false)

const calm = { seeds: [1], duration: "1 min", keys: 1, store: "exact", faults: [], shrinkFor: 0 } as const

async function brokenBy(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.catch((reason: unknown) => reason)
  if (error instanceof SimulationError) return error.violations.map(({ message }) => message).join("\n")
  throw new Error("the simulation didn't fail", { cause: error })
}

describe("an error that no fault explains fails the run", () => {
  // Tests simulations: A simulation expects no error that no fault explains.
  it.each([false, true])("a schema that refuses every checkpoint (durable: %s)", async (durable) => {
    const sandbox = defineSandbox({ ...hooks, schema: never })
    const told = brokenBy(
      simulate({
        sandbox,
        ...calm,
        workload: async ({ workers, random }) => {
          await random.pick(workers).use((state) => ++state.n, { contention: "retry", durable })
        },
      }),
    )
    expect(await told).toContain("CheckpointInvalidError")
  })

  // Tests input: Hooks, observers and handlers may throw; `restore` may hang or ignore its abort.
  it("a run that throws by itself", async () => {
    const run = (): never => {
      throw new RangeError("of run")
    }
    expect(await brokenBy(simulate({ sandbox: defineSandbox({ ...hooks, run }), ...calm }))).toContain(
      "RangeError: of run",
    )
  })

  // Tests simulations.
  it("an option of a call that means nothing", async () => {
    const told = brokenBy(
      simulate({
        sandbox: counter,
        ...calm,
        workload: ({ workers, random }) => random.pick(workers).use(() => {}, { contention: "retyr" as never }),
      }),
    )
    expect(await told).toMatch(/the workload threw InvalidConfigError: .*retyr/)
  })

  it("a use inside a use of the same key", async () => {
    const told = brokenBy(
      simulate({
        sandbox: counter,
        ...calm,
        workload: async ({ workers, random }) => {
          const worker = random.pick(workers)
          await worker.use(() => worker.use(() => {}), { contention: "retry" })
        },
      }),
    )
    expect(await told).toContain("the workload threw ReentrantLockError")
  })
})

// Tests simulations.
it("managers that refuse their options end a simulation with that refusal", async () => {
  await expect(simulate({ sandbox: counter, ...calm, manager: { ttl: "2 s" } })).rejects.toMatchObject({
    _tag: "InvalidConfigError",
    message: expect.stringContaining("ttl"),
  })
})
