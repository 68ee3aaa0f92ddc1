/**
 * What a live trace costs: state changes of sandboxes a second of CPU, on a store in memory, so that little else costs
 * anything. Without a trace and without a reader; with a subscriber, as an inspector is one; and with a file. All in
 * one run.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { insideOf } from "../src/actors/inside/inside.ts"
import { defineSandbox, type ManagerOptions, memoryStore, SandboxManager, unchecked } from "../src/mod.ts"
import { cpuOf, detail, inTurns, ratio } from "./ratio.ts"

/** Sandboxes of one turn, each begun, used and released. */
const SANDBOXES = 1500
/** How many of them at a time. */
const AT_ONCE = 50
/**
 * acquiring, restoring, running, settling, checkpointing, releasing, released: as tests/actors/trace.test.ts pins it.
 */
const STATES = 7

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})

/** State changes a second of CPU. */
async function rateOf(trace: Pick<ManagerOptions, "trace">, isRead: boolean): Promise<number> {
  const manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [counter], minTenure: 0, ...trace })
  let lines = 0
  if (isRead) insideOf(manager).tap.subscribe(() => void lines++)
  const cpu = await cpuOf(async () => {
    for (let from = 0; from < SANDBOXES; from += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, each) => once(manager, `${from + each}`)))
  })
  await manager[Symbol.asyncDispose]()
  if (isRead && lines < SANDBOXES * STATES) throw new Error(`only ${lines} lines were told`)
  return (SANDBOXES * STATES * 1e6) / cpu
}

async function once(manager: SandboxManager, key: string): Promise<void> {
  const handle = await manager.restoreSandbox(counter, key)
  await handle.use((state) => void state.n++)
  await handle.release()
}

/** Prints the figures. */
export async function benchTrace(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-bench-trace-"))
  const file = join(folder, "leases.ndjson")
  try {
    await rateOf({}, false) // the code is warm from here on
    const rate = await inTurns(5, {
      none: () => rateOf({}, false),
      subscriber: () => rateOf({}, true),
      file: () => rateOf({ trace: file }, false),
    })
    detail("no trace, no reader", rate.none, "state changes per second of CPU")
    detail("a subscriber", rate.subscriber, "state changes per second of CPU")
    detail("a file", rate.file, "state changes per second of CPU")
    detail("the file", statSync(file).size / (SANDBOXES * STATES), "bytes per state change, all lines counted")
    ratio("trace-subscriber/none", rate.subscriber / rate.none, ">=", 0.6)
    ratio("trace-file/none", rate.file / rate.none, ">=", 0.5)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
