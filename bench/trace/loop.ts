/**
 * What is measured of a trace: sandboxes of one manager, each begun, used and released, on a store in memory, so that
 * little else costs anything. It imports the sources beside it, so that a copy of them with changes is measured by a
 * copy of this file.
 */
import { insideOf } from "../../src/actors/inside/inside.ts"
import { defineSandbox, type ManagerOptions, memoryStore, SandboxManager, unchecked } from "../../src/mod.ts"
import { cpuOf } from "../ratio.ts"

/** How many sandboxes at a time. */
const AT_ONCE = 50

/**
 * Of each: acquiring, restoring, running, settling, checkpointing, releasing, released, as tests/actors/trace.test.ts
 * pins it.
 */
export const STATES = 7

/** One turn. */
export interface Turn extends Pick<ManagerOptions, "trace"> {
  readonly sandboxes: number
  /** There is a subscriber, as an inspector is one. */
  readonly isRead?: boolean
}

/** What came of it. */
export interface Told {
  /** State changes a second of CPU. */
  readonly rate: number
  /** How many lines the subscriber was told meanwhile. */
  readonly lines: number
}

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})

/** Runs a turn. */
export async function run({ sandboxes, isRead = false, ...trace }: Turn): Promise<Told> {
  const manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [counter], minTenure: 0, ...trace })
  let lines = 0
  if (isRead) insideOf(manager).tap.subscribe(() => void lines++)
  const cpu = await cpuOf(async () => {
    for (let from = 0; from < sandboxes; from += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, each) => once(manager, `${from + each}`)))
  })
  const told = { rate: (sandboxes * STATES * 1e6) / cpu, lines }
  await manager[Symbol.asyncDispose]()
  return told
}

async function once(manager: SandboxManager, key: string): Promise<void> {
  const handle = await manager.restoreSandbox(counter, key)
  await handle.use((state) => void state.n++)
  await handle.release()
}
