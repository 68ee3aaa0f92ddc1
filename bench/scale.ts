/**
 * One worker with many idle sandboxes on the real fake-gcs-server, each size alone and beside a process that keeps a
 * core busy: how many sandboxes start, how many leases are lost while they are held for two ttls, and of how many a
 * drain with 5 min of grace doesn't save the last state. `--sizes=500,2000` measures other sizes, `--alone` leaves the
 * neighbour out.
 *
 * The server keeps its objects in files. In memory it compares names one by one, so that from some 2,500 sandboxes on
 * it answers fewer requests a second than there are renewals.
 *
 * Not promised: anything about how long it takes. What counts are losses, and the goal is none.
 */
import { spawn } from "node:child_process"
import process from "node:process"
import { setTimeout as sleep } from "node:timers/promises"
import { sandboxLockKey } from "../src/locks/api/keys.ts"
import { gcsStore } from "../src/locks/stores/gcs/mod.ts"
import { defineSandbox, SandboxManager, unchecked } from "../src/mod.ts"
import { startGcsServer } from "../tests/integration/support/gcs-server.ts"
import { detail, ratio } from "./ratio.ts"

const SIZES = [500, 2000, 4000]
/** Two ttls (30 s each): a lease that no renewal reaches is lost within one. In milliseconds. */
const HOLD_MS = 60_000
const BUCKET = "scale"
/** Heads that are read at once to see what was saved. */
const READERS = 32

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }: { n: number }) => ({ n }),
})

/** Prints the figures. */
export async function benchScale(): Promise<void> {
  const sizes = process.argv.find((flag) => flag.startsWith("--sizes="))?.slice("--sizes=".length)
  const neighbours = process.argv.includes("--alone") ? [false] : [false, true]
  for (const busy of neighbours) for (const size of sizes?.split(",").map(Number) ?? SIZES) await measure(size, busy)
}

async function measure(size: number, busy: boolean): Promise<void> {
  await using server = await startGcsServer({ inFiles: true })
  await server.createBucket(BUCKET)
  const name = `scale-${size}${busy ? "-busy" : ""}`
  const keys = Array.from({ length: size }, (_, index) => `k${index}`)
  const store = gcsStore({ bucket: BUCKET, endpoint: server.endpoint })
  const errors = new Map<string, number>()
  const onError = (error: unknown): void => {
    const tag = error instanceof Error ? error.name : String(error)
    errors.set(tag, (errors.get(tag) ?? 0) + 1)
  }
  const manager = await SandboxManager.start({ store, sandboxes: [counter], onError })
  const lost = new Set<string>()
  manager.events$.subscribe((event) => void (event.type === "Lost" && lost.add(event.key)))
  using _neighbour = busy ? startNeighbour() : undefined

  const from = performance.now()
  const starts = await Promise.allSettled(
    keys.map((key) => manager.use(counter, key, (state) => void state.n++, { timeout: "5 min" })),
  )
  const started = keys.filter((_, index) => starts[index]!.status === "fulfilled")
  detail(`${name}: starts`, (performance.now() - from) / 1000, "s")
  ratio(`${name}-failed-starts`, size - started.length, "=", 0)

  await sleep(HOLD_MS)
  ratio(`${name}-lost-leases`, lost.size, "=", 0)

  const held = started.filter((key) => !lost.has(sandboxLockKey(counter.name, key)))
  const begun = performance.now()
  const { stuck } = await manager.drain({ grace: "5 min" })
  detail(`${name}: drain`, (performance.now() - begun) / 1000, "s")
  ratio(`${name}-stuck`, stuck.length, "=", 0)
  ratio(`${name}-unsaved`, await unsaved(manager, held), "=", 0)
  for (const [tag, count] of errors) detail(`${name}: errors ${tag}`, count, "")
  await manager[Symbol.asyncDispose]()
  await store.close()
}

/** How many keys' last state isn't in the store. */
async function unsaved(manager: SandboxManager, keys: readonly string[]): Promise<number> {
  const left = keys.values()
  let missing = 0
  const reader = async (): Promise<void> => {
    for (const key of left) if ((await manager.readCheckpoint(counter, key))?.n !== 1) missing++
  }
  await Promise.all(Array.from({ length: READERS }, reader))
  return missing
}

/** Keeps a core busy, until it is told to end, or whoever started it is gone: it looks once in 20 ms. */
const BUSY = `
  process.stdin.resume().once("end", () => process.exit())
  const burn = () => {
    for (const end = performance.now() + 20; performance.now() < end; );
    setImmediate(burn)
  }
  burn()
`

/** A process that computes and does nothing else. */
function startNeighbour(): Disposable {
  const child = spawn(process.execPath, ["--eval", BUSY], { stdio: ["pipe", "ignore", "inherit"] })
  const end = (): void => void child.kill("SIGKILL")
  process.once("exit", end)
  return {
    [Symbol.dispose]: () => {
      process.off("exit", end)
      end()
    },
  }
}
