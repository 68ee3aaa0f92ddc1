/**
 * What a handoff of a sandbox costs in CPU, against that of the bare lock below it: a key that two processes want by
 * turns, on a store in memory and virtual time, so that no wait counts. Of a sandbox it has two activations, a restore, a
 * use, and a last checkpoint.
 */
import { StoreLock } from "../src/locks/lock/store-lock.ts"
import { defineSandbox, memoryStore, SandboxManager, unchecked } from "../src/mod.ts"
import { VirtualTime } from "../src/runtime/time/virtual-time.ts"
import { cpuOf, detail, inTurns, ratio } from "./ratio.ts"

const ROUNDS = 7
const HANDOFFS = 1000

/** Prints the figures. */
export async function benchHandoff(): Promise<void> {
  const cost = await inTurns(ROUNDS, { sandbox: costOfSandboxes, lock: costOfLocks })
  detail("a handoff of a sandbox", cost.sandbox, "µs of CPU")
  detail("a handoff of its lock alone", cost.lock, "µs of CPU")
  ratio("sandbox-handoff/lock-handoff", cost.sandbox / cost.lock, "<=", 4)
}

async function costOfSandboxes(): Promise<number> {
  const time = new VirtualTime({ maxSteps: Number.MAX_SAFE_INTEGER })
  const store = memoryStore({ clock: time })
  const counter = defineSandbox({
    name: "counter",
    schema: unchecked<{ n: number }>(),
    restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
    checkpoint: ({ n }) => ({ n }),
  })
  const start = (id: string): Promise<SandboxManager> =>
    time.runUntil(SandboxManager.start({ store, sandboxes: [counter], clock: time, incarnation: { id }, minTenure: 0 }))
  const managers = [await start("a"), await start("b")]
  const handoffs = async (): Promise<void> => {
    for (let turn = 0; turn < HANDOFFS; turn++) await managers[turn % 2]!.use(counter, "k", (state) => void state.n++)
  }
  const cpu = await cpuOf(() => time.runUntil(handoffs()))
  const saved = await time.runUntil(managers[0]!.readCheckpoint(counter, "k"))
  if (saved?.n !== HANDOFFS - 1) throw new Error(`${saved?.n} uses are saved of ${HANDOFFS - 1}`)
  for (const manager of managers) await time.runUntil(manager[Symbol.asyncDispose]())
  return cpu / HANDOFFS
}

async function costOfLocks(): Promise<number> {
  const time = new VirtualTime({ maxSteps: Number.MAX_SAFE_INTEGER })
  const store = memoryStore({ clock: time })
  const locks = ["a", "b"].map((id) => new StoreLock("k", { store, clock: time, incarnation: { id } }))
  const handoffs = async (): Promise<void> => {
    for (let turn = 0; turn < HANDOFFS; turn++) {
      const lease = await locks[turn % 2]!.acquire({ timeout: "10 min" })
      lease.events$.subscribe((event) => void (event.type === "ReleaseRequested" && lease.release()))
    }
  }
  const cpu = await cpuOf(() => time.runUntil(handoffs()))
  return cpu / HANDOFFS
}
