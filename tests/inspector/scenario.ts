// Two eventful minutes of one sandbox in a simulated world, two workers of which one has a wall clock that is ahead: a
// handoff, a refusal, a pause past the ttl, a takeover, a loss.
import type { HookContext } from "../../src/actors/api/sandbox.ts"
import { SandboxManager } from "../../src/actors/manager/manager.ts"
import { TraceRecorder, type WorkerRecorder } from "../../src/inspector/recorder.ts"
import type { CheckpointStore, Generation, LeaseStore, ObjectRef } from "../../src/locks/stores/port.ts"
import { type FakeProcess, type FakeWorld, fakeWorld } from "../../src/testing/fake-world.ts"
import { appliedWrite } from "../../src/trace/applied.ts"
import { type TraceHeader, type TraceLine } from "../../src/trace/trace.ts"
import { type Count, counter, failure } from "../actors/world.ts"

export interface Recording {
  readonly header: TraceHeader
  readonly lines: readonly TraceLine[]
}

type Store = LeaseStore & CheckpointStore

export async function recorded(seed: number): Promise<Recording> {
  const world = fakeWorld({ seed })
  const lines: TraceLine[] = []
  const onLine = (line: TraceLine): number => lines.push(line)
  const recorder = new TraceRecorder({ source: "simulated", seed, clock: world.clock, onLine })
  const [a, b] = [world.process("a"), world.process("b")]
  recorder.fault("stepWall", { worker: "b", detail: { ms: 400 } })
  b.stepWall(400)
  const [atA, atB] = [await start(world, recorder, a), await start(world, recorder, b)]
  await atA.use()
  await atB.use({ durable: true })
  await atA.restore()
  await world.advance("1 min")
  recorder.fault("pause", { worker: "b" })
  b.pause()
  await atA.use()
  recorder.note("a key changed hands while its owner stood still")
  await world.advance("20 s")
  recorder.fault("resume", { worker: "b" })
  b.resume()
  await world.advance("1 s")
  await world.until(Promise.all([atA.close(), atB.close()]))
  return { header: recorder.header, lines }
}

interface Worker {
  use(options?: { readonly durable?: boolean }): Promise<number>
  restore(): Promise<unknown>
  close(): Promise<void>
}

async function start(world: FakeWorld, recorder: TraceRecorder, process: FakeProcess): Promise<Worker> {
  const worker = recorder.worker(process.id)
  const sandbox = worker.sandbox(counter())
  const options = {
    store: worker.store(told(world.store, worker, recorder)),
    inspect: worker.inspect,
    clock: process.clock,
    incarnation: process,
    sandboxes: [sandbox],
    minTenure: 0,
    onError: () => {}, // the loss is told by its line
  }
  const manager = await world.until(worker.call({ call: "start" }, () => SandboxManager.start(options)))
  worker.locks(manager.events$)
  const count = worker.use((state: Count, _: HookContext) => ++state.n)
  const key = "counter/k"
  return {
    use: (how = {}) => {
      const asked = { call: "use", key, budget: 60_000, ...(how.durable === true && { durable: true }) } as const
      return world.until(worker.call(asked, () => manager.use(sandbox, "k", count, { timeout: "1 min", ...how })))
    },
    restore: () => {
      const restore = (): Promise<unknown> => manager.restoreSandbox(sandbox, "k", { whenOwned: "report" })
      return world.until(failure(worker.call({ call: "restore", key }, restore)))
    },
    close: () => worker.call({ call: "close" }, () => manager[Symbol.asyncDispose]()),
  }
}

/** The same store, which tells of each write that takes effect: nothing comes between the write and its answer here. */
function told(store: Store, { name: worker }: WorkerRecorder, recorder: TraceRecorder): Store {
  const tell = (ref: ObjectRef, before: Generation, generation: Generation, body?: Uint8Array): void =>
    recorder.applied(appliedWrite({ worker, ...ref, before, generation, body }))
  const telling: Pick<Store, "put" | "remove"> = {
    async put(ref, expected, body, options) {
      const answer = await store.put(ref, expected, body, options)
      if (answer.kind === "applied") tell(ref, expected, answer.generation, body)
      return answer
    },
    async remove(ref, expected, options) {
      const answer = await store.remove(ref, expected, options)
      if (answer.kind === "applied") tell(ref, expected, expected)
      return answer
    },
  }
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(name in telling ? telling : target, name)
      return typeof value === "function" ? (value.bind(target) as unknown) : value
    },
  })
}
