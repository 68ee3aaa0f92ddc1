/**
 * A put of the file store, unsynced as lease records are, against the bare system calls that it can't do without: write
 * a temporary file, link it to its place, unlink it. CPU time, which the load of the machine sways less than wall time.
 *
 * Beside it what two ways cost that the store doesn't go, by the clock on the wall, since most of it is waiting.
 */
import { linkSync, mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs"
import { link, unlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileStore } from "../src/locks/stores/file/mod.ts"
import { ABSENT } from "../src/locks/stores/port.ts"
import { cpuOf, detail, inTurns, ratio, wallOf } from "./ratio.ts"

/** Puts a turn: short turns, and many, so that a busy moment of the machine strikes both alike. */
const PUTS = 200
const ROUNDS = 71
const OTHER_ROUNDS = 11
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
    await otherWays(directory)
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

/** Through the thread pool, and a second name that replaces a file instead of coming after its removal. */
async function otherWays(directory: string): Promise<void> {
  const cost = await inTurns(OTHER_ROUNDS, {
    atOnce: () => costOf(bare(mkdtempSync(join(directory, "at-once-"))), wallOf),
    pool: () => costOf(throughPool(mkdtempSync(join(directory, "pool-"))), wallOf),
    removed: () => costOf(shown(mkdtempSync(join(directory, "removed-")), unlinkSync), wallOf),
    replaced: () =>
      costOf(
        shown(mkdtempSync(join(directory, "replaced-")), () => {}),
        wallOf,
      ),
  })
  detail("write + link + unlink", cost.atOnce, "µs")
  detail("the same through the thread pool", cost.pool, "µs")
  detail("the same with a second name for each version, unlinked and renamed", cost.removed, "µs")
  detail("the same with a second name that a rename replaces", cost.replaced, "µs")
}

function throughPool(directory: string): () => Promise<void> {
  let version = 0
  return async () => {
    const temporary = join(directory, "bare.tmp")
    const place = join(directory, "bare")
    await writeFile(temporary, body, { flag: "wx" })
    await link(temporary, `${place}.${++version}`)
    await unlink(temporary)
    if (version > 1) await unlink(`${place}.${version - 1}`)
  }
}

/** Each version under a number, and the last under a name that stays; `before` is done to who has that name. */
function shown(directory: string, before: (name: string) => void): () => void {
  const [temporary, name, place] = ["bare.tmp", "bare.lock", "bare"].map((each) => join(directory, each)) as Three
  let version = 0
  writeFileSync(name, body)
  return () => {
    writeFileSync(`${place}.${++version}`, body, { flag: "wx" })
    linkSync(`${place}.${version}`, temporary)
    before(name)
    renameSync(temporary, name)
    if (version > 1) unlinkSync(`${place}.${version - 1}`)
  }
}

type Three = [string, string, string]

/** Microseconds per put, one at a time: of CPU, unless measured otherwise. */
async function costOf(work: () => Promise<void> | void, measure = cpuOf): Promise<number> {
  const all = await measure(async () => {
    for (let put = 0; put < PUTS; put++) await work()
  })
  return all / PUTS
}
