// Two eventful minutes of one sandbox in a simulated world, two workers of which one has a wall clock that is ahead: a
// handoff, a refusal, a pause past the ttl, a takeover, a loss.
import { SandboxManager } from "../../src/actors/manager.ts"
import { TraceRecorder } from "../../src/inspector/recorder.ts"
import { type TraceHeader, type TraceLine } from "../../src/inspector/trace.ts"
import { type FakeProcess, fakeWorld } from "../../src/testing/fake-world.ts"
import { counter, failure } from "../actors/world.ts"

export interface Recording {
  readonly header: TraceHeader
  readonly lines: readonly TraceLine[]
}

export async function recorded(seed: number): Promise<Recording> {
  const world = fakeWorld({ seed })
  const lines: TraceLine[] = []
  const recorder = new TraceRecorder({
    source: "simulated",
    seed,
    clock: world.clock,
    onLine: (line) => lines.push(line),
  })
  const sandbox = counter()
  const start = async (process: FakeProcess): Promise<SandboxManager> => {
    const worker = recorder.worker(process.id)
    const manager = await world.until(
      SandboxManager.start({
        store: worker.store(world.store),
        inspect: worker.inspect,
        clock: process.clock,
        incarnation: process,
        sandboxes: [sandbox],
        minTenure: 0,
        onError: () => {}, // the loss is told by its line
      }),
    )
    worker.locks(manager.events$)
    return manager
  }
  const [a, b] = [world.process("a"), world.process("b")]
  recorder.fault("stepWall", { worker: "b", detail: { ms: 400 } })
  b.stepWall(400)
  const [atA, atB] = [await start(a), await start(b)]
  await world.until(atA.use(sandbox, "k", (state) => ++state.n))
  await world.until(atB.use(sandbox, "k", (state) => ++state.n, { durable: true }))
  await world.until(failure(atA.restoreSandbox(sandbox, "k", { whenOwned: "report" })))
  await world.advance("1 min")
  recorder.fault("pause", { worker: "b" })
  b.pause()
  await world.until(atA.use(sandbox, "k", (state) => ++state.n, { timeout: "1 min" }))
  await world.advance("20 s")
  recorder.fault("resume", { worker: "b" })
  b.resume()
  await world.advance("1 s")
  await world.until(Promise.all([atA[Symbol.asyncDispose](), atB[Symbol.asyncDispose]()]))
  return { header: recorder.header, lines }
}
