// What `npm start --` can be told. Whatever it can't be told is refused with a sentence, never ignored.
import { parseArgs } from "node:util"
import { ownRuntime, type Runtime } from "./runtimes.ts"

export interface Options {
  /** Of the workers A and B. */
  readonly runtimes: readonly [Runtime, Runtime]
  /** A directory or `gs://bucket/prefix`; undefined: a temporary directory. */
  readonly store: string | undefined
  /** Of an emulator of GCS. */
  readonly endpoint: string | undefined
  readonly stay: boolean
  readonly keep: boolean
  /** The other job: requests through three workers, none of which moves the database. */
  readonly routing: boolean
}

/** The options can't work; the message says which. */
export class UsageError extends Error {}

export const help = `The main job of leasehold: a SQLite database that moves between two worker processes.

  npm start -- [options]

  --runtime node|deno|mixed     what the workers run on; mixed: A on Node, B on Deno (default: what runs this)
  --store DIR                   keep leases and checkpoints in this directory (default: a temporary one)
  --store gs://bucket/prefix    keep them in Google Cloud Storage
  --endpoint URL                of an emulator of it (default: STORAGE_EMULATOR_HOST, where that is set)
  --stay                        serve on after the job, with two new workers, until Ctrl-C: print the address of the page of
                                the fleet, and curl lines to try
  --routing                     another job: rows written through three workers while the owner is killed and the next one
                                drains; it has no other option, and ends with a line of its own
  --keep                        leave the temporary directory with the store and the act log
  --help                        print this

It prints the address of the page of the fleet, on which both workers are seen as the job goes on. At a terminal it waits
then for Enter, for 30 s at most.
It ends with the line

  main job: handoff <ms> ms, takeover <ms> ms, rows <n>/<n>, owners at once <max>

handoff: from the query sent to B while A owns the database to its answer. takeover: the same from the SIGKILL of B to
the answer of A, most of which is waiting for B's lease to be over. rows: acknowledged rows found at the end, of all
acknowledged. owners at once: the most there were, computed from the act log. The exit code is 0 if every acknowledged row
was there at every step, no two owned the database at once, and the drain was clean; otherwise 1, after a line for each
failure. 2: the options make no sense.
`

const flags = {
  runtime: { type: "string" },
  store: { type: "string" },
  endpoint: { type: "string" },
  stay: { type: "boolean", default: false },
  keep: { type: "boolean", default: false },
  routing: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const

/** The options, or "help" where that is asked for. Throws UsageError. */
export function readOptions(args: readonly string[]): Options | "help" {
  const values = parse(args)
  if (values.help) return "help"
  const { store, endpoint, stay, keep, routing } = values
  if (routing && args.length > 1) throw new UsageError("--routing has no other option beside it")
  if (store === "") throw new UsageError("--store is empty: give a directory, or gs://bucket/prefix")
  const onGcs = store !== undefined && /^[a-z][a-z0-9+.-]*:\/\//i.test(store)
  if (onGcs && !store.startsWith("gs://")) throw new UsageError(`--store ${store}: only gs:// is known, or a directory`)
  if (endpoint !== undefined && !onGcs) throw new UsageError("--endpoint is for --store gs://… only")
  return { runtimes: runtimesOf(values.runtime ?? ownRuntime), store, endpoint, stay, keep, routing }
}

function parse(args: readonly string[]): ReturnType<typeof parseArgs<{ options: typeof flags }>>["values"] {
  try {
    return parseArgs({ args: [...args], options: flags }).values
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

function runtimesOf(name: string): readonly [Runtime, Runtime] {
  if (name === "mixed") return ["node", "deno"]
  if (name === "node" || name === "deno") return [name, name]
  throw new UsageError(`--runtime ${name}: give node, deno or mixed`)
}
