/**
 * A put of the file store, unsynced as lease records are, against the bare system calls that it can't do without: write a
 * temporary file, link it to its place, unlink it. CPU time, which the load of the machine sways less than wall time.
 */
import { linkSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ABSENT } from "../src/locks/store.ts"
import { fileStore } from "../src/locks/stores/file/mod.ts"
import { cpuOf, detail, inTurns, ratio } from "./ratio.ts"

/** Puts a turn: short turns, and many, so that a busy moment of the machine strikes both alike. */
const PUTS = 200
const ROUNDS = 71
const body = new TextEncoder().encode(JSON.stringify({ ownerId: "bench", padding: "x".repeat(600) }))

/** Prints the figure. */
export async function benchFilePut(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "leasehold-bench-"))
  const store = fileStore({ directory: join(directory, "store") })
  await store.start({ deadline: 10_000 })
  const bareStep = bare(directory)
  let generation = ABSENT
  try {
    const cost = await inTurns(ROUNDS, {
      store: () =>
        costOf(async () => {
          const answer = await store.put({ area: "leases", name: "bench" }, generation, body, { deadline: 10_000 })
          if (answer.kind !== "applied") throw new Error(`a put was ${answer.kind}`)
          generation = answer.generation
        }),
      bare: () => costOf(bareStep),
    })
    detail("file store put", cost.store, "µs of CPU")
    detail("write + link + unlink", cost.bare, "µs of CPU")
    ratio("file-put/write+link+unlink", cost.store / cost.bare, "<=", 2)
  } finally {
    await store.close()
    rmSync(directory, { recursive: true })
  }
}

/** Each version replaces the one before, so that the directory stays as small as the store's. */
function bare(directory: string): () => void {
  let version = 0
  return () => {
    const temporary = join(directory, "bare.tmp")
    const place = join(directory, "bare")
    writeFileSync(temporary, body, { flag: "wx" })
    linkSync(temporary, `${place}.${++version}`)
    unlinkSync(temporary)
    if (version > 1) unlinkSync(`${place}.${version - 1}`)
  }
}

/** Microseconds of CPU per put, one at a time. */
async function costOf(work: () => Promise<void> | void): Promise<number> {
  const cpu = await cpuOf(async () => {
    for (let put = 0; put < PUTS; put++) await work()
  })
  return cpu / PUTS
}
