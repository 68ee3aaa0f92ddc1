/**
 * What sandboxes cost that nobody uses: 10,000 of them on a store in memory, against as many bare XState root actors
 * with a timer each that comes due as often as a lease is renewed. CPU as a share of one core, and heap for each. Each
 * alternative is measured in a process of its own, since its heap counts. What beginning costs is over by then: an
 * owner looks once, and watches its record from then on.
 *
 * Not promised: anything about stores that answer over a network; there a renewal costs what its request does.
 */
import { spawnSync } from "node:child_process"
import process from "node:process"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { type AnyActor, createActor, fromTransition, setup } from "xstate"
import { defineSandbox, memoryStore, SandboxManager, unchecked } from "../src/mod.ts"
import { detail, heapUsed, ratio } from "./ratio.ts"

const SANDBOXES = 10_000
/** A third of the default ttl of 30 s: when a lease is renewed. In milliseconds. */
const RENEWED_EVERY = 10_000
/** Three renewals of each. In milliseconds. */
const WINDOW = 3 * RENEWED_EVERY
/** By then each has looked once, and was renewed. In milliseconds. */
const SETTLES_IN = 1.5 * RENEWED_EVERY
/** Uses that begin at a time, while they are made. */
const AT_ONCE = 100

interface Cost {
  /** Of one core, in percent. */
  readonly cpu: number
  /** Of each, in bytes. */
  readonly heap: number
}

const makers: Readonly<Record<string, () => Promise<unknown>>> = {
  sandboxes: idleSandboxes,
  actors: () => bareActors(undefined),
  children: () => bareActors(createActor(fromTransition((state: undefined) => state, undefined)).start()),
}

/** Prints the figures. */
export async function benchIdle(): Promise<void> {
  const [sandbox, actor, child] = [costOf("sandboxes"), costOf("actors"), costOf("children")]
  detail("CPU of idle sandboxes", sandbox.cpu, "% of a core")
  detail("CPU of bare actors with a timer", actor.cpu, "% of a core")
  detail("heap of a bare actor with a timer", actor.heap, "bytes")
  detail("heap of one that has a parent, and so no XState system of its own", child.heap, "bytes")
  ratio("idle/core-in-percent", sandbox.cpu, "<=", 10)
  ratio("idle/heap-bytes", sandbox.heap, "<=", 12_000)
}

function costOf(name: string): Cost {
  const { stdout, status } = spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), name], {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  })
  if (status !== 0) throw new Error(`${name} ended with ${status}`)
  return JSON.parse(stdout) as Cost
}

/** Until the process is told to end, what `make` made stays where it is. */
async function measure(make: () => Promise<unknown>): Promise<Cost> {
  const before = heapUsed()
  const kept = await make()
  await sleep(SETTLES_IN)
  const heap = (heapUsed() - before) / SANDBOXES
  const { user, system } = process.cpuUsage()
  await sleep(WINDOW)
  const after = process.cpuUsage()
  if (kept === undefined) throw new Error("nothing was made")
  return { heap, cpu: (after.user + after.system - user - system) / (WINDOW * 10) }
}

async function idleSandboxes(): Promise<unknown> {
  const counter = defineSandbox({
    name: "counter",
    schema: unchecked<{ n: number }>(),
    restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
    checkpoint: ({ n }) => ({ n }),
  })
  const manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [counter] })
  const keys = Array.from({ length: SANDBOXES }, (_, index) => `${index}`).values()
  const begin = async (): Promise<void> => {
    for (const key of keys) await manager.use(counter, key, (state) => void state.n++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, begin))
  return manager
}

async function bareActors(parent: AnyActor | undefined): Promise<unknown> {
  const machine = setup({ delays: { due: () => RENEWED_EVERY * (0.9 + Math.random() / 5) } }).createMachine({
    initial: "idle",
    states: { idle: { after: { due: { target: "idle", reenter: true } } } },
  })
  return Array.from({ length: SANDBOXES }, () => createActor(machine, parent && { parent }).start())
}

const [, program, name] = process.argv
if (program === fileURLToPath(import.meta.url) && name !== undefined) {
  console.log(JSON.stringify(await measure(makers[name]!)))
  process.exit()
}
