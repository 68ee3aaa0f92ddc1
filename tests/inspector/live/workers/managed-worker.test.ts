// Pins what a manager costs that is looked at, and what is told of one that ends.
import { setTimeout as sleep } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { describe, expect, it, vi } from "vitest"
import { createMachine } from "xstate"
import { SandboxManager } from "../../../../src/actors/manager/manager.ts"
import type { WorkerRow } from "../../../../src/inspector/live/model/wire.ts"
import type { FleetSink } from "../../../../src/inspector/live/stream/source.ts"
import { managedWorker } from "../../../../src/inspector/live/workers/managed-worker.ts"
import { memoryStore } from "../../../../src/locks/stores/memory-store.ts"
import { counter } from "../../../actors/world.ts"

const sink = (more: Partial<FleetSink> = {}): FleetSink => ({
  ...{ rows: () => {}, line: () => {}, worker: () => {}, forget: () => {} },
  ...more,
})

const drawn = vi.hoisted(() => vi.fn<() => Promise<string>>(async () => "<svg></svg>"))
vi.mock("../../../../src/draw/svg/svg.ts", () => ({ toSvg: drawn }))

describe("a manager that is looked at", () => {
  // Tests inspector: A client that takes nothing is dropped; without clients nothing is listened to.
  it("keeps nothing of those who look no more", async () => {
    await using manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [counter()] })
    const worker = managedWorker(manager)
    const left = Array.from({ length: 20 }, () => {
      const one = sink()
      worker.start(one)()
      return new WeakRef(one)
    })
    setFlagsFromString("--expose-gc")
    const collect = runInNewContext("gc") as () => void
    await expect
      .poll(async () => {
        await sleep(10)
        collect()
        return left.filter((one) => one.deref() !== undefined).length
      })
      .toBeLessThan(3)
  })

  it("is told as closed when it has ended, however fast that went", async () => {
    const manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [counter()] })
    const told: WorkerRow[] = []
    managedWorker(manager).start(sink({ worker: (row) => void told.push(row) }))
    await manager[Symbol.asyncDispose]()
    await expect.poll(() => told.at(-1)?.closed).toBe(true)
  })

  it("draws a machine once, however often its sandboxes are looked at", async () => {
    const machine = createMachine({ initial: "on", states: { on: {} } })
    const sandbox = counter({ inspectState: () => ({ machine, value: "on" }) })
    await using manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [sandbox] })
    for (const key of ["a", "b"]) await manager.use(sandbox, key, (count) => ++count.n)
    const worker = managedWorker(manager)
    for (const key of ["counter/a", "counter/b", "counter/a"]) {
      expect(await worker.machineOf(key)).toMatchObject({ machine: { svg: "<svg></svg>", value: "on" } })
    }
    expect(drawn).toHaveBeenCalledTimes(1)
  })
})
