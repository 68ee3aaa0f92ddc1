/**
 * What a live trace costs: state changes of sandboxes a second of CPU. Without a trace and a reader, beside the same
 * sources with nothing in them that a trace is told by; with a subscriber, as an inspector is one; and with a file. All
 * in one run.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { makeTree } from "../scripts/mutants/tree.ts"
import { detail, inTurns, ratio } from "./ratio.ts"
import { run, STATES, type Turn } from "./trace/loop.ts"
import { untapped } from "./trace/untapped.ts"

/** Sandboxes of one turn. */
const SANDBOXES = 1500

/**
 * Of one turn where a few per cent count: with many short turns a busy machine is off by two, with a few long ones by
 * five.
 */
const FEW = 50
const ROUNDS = 200

/** What the loop needs beside the sources. */
const LOOP = ["bench/trace", "bench/ratio.ts"]

/** Prints the figures. */
export async function benchTrace(): Promise<void> {
  await unread()
  await read()
}

/** Copies of the sources, with and without the edits, loaded and run alike. */
async function unread(): Promise<void> {
  using bare = makeTree("bench-trace-untapped", untapped, LOOP)
  using whole = makeTree("bench-trace-unread", [], LOOP)
  const loops = { untapped: await loopIn(bare.root), unread: await loopIn(whole.root) }
  for (const loop of Object.values(loops)) await loop({ sandboxes: SANDBOXES }) // the code is warm from here on
  const rate = await inTurns(ROUNDS, {
    untapped: async () => (await loops.untapped({ sandboxes: FEW })).rate,
    unread: async () => (await loops.unread({ sandboxes: FEW })).rate,
  })
  await heard("the sources without a tap", loops.untapped, (lines) => lines === 0)
  await heard("the sources", loops.unread, hasAll)
  detail("without a tap", rate.untapped, "state changes per second of CPU")
  detail("with one that nobody reads", rate.unread, "state changes per second of CPU")
  ratio("trace-unread/untapped", rate.unread / rate.untapped, ">=", 0.95)
}

async function loopIn(root: string): Promise<typeof run> {
  const loop = (await import(pathToFileURL(join(root, "bench/trace/loop.ts")).href)) as { run: typeof run }
  return loop.run
}

/** Throws unless a reader is told as many lines as it should be: else something else was measured. */
async function heard(whose: string, loop: typeof run, isRight: (lines: number) => boolean): Promise<number> {
  const { rate, lines } = await loop({ sandboxes: SANDBOXES, isRead: true })
  if (!isRight(lines)) throw new Error(`${whose} told ${lines} lines`)
  return rate
}

const hasAll = (lines: number): boolean => lines >= SANDBOXES * STATES

async function read(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-bench-trace-"))
  const file = join(folder, "leases.ndjson")
  const rateOf = async (turn: Pick<Turn, "trace">): Promise<number> =>
    (await run({ sandboxes: SANDBOXES, ...turn })).rate
  try {
    await rateOf({}) // the code is warm from here on
    const rate = await inTurns(5, {
      none: () => rateOf({}),
      subscriber: () => heard("the sources", run, hasAll),
      file: () => rateOf({ trace: file }),
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
