/**
 * A process that takes and gives back one lock as lines on its standard input say: `worker.ts leasehold|proper-lockfile|idle
 * <directory>`. It prints when it asked, had or gave back the lock, on the clock that all processes of a machine share.
 * `idle` only lives: it is what holds a flock that another program took for it.
 */
import { join } from "node:path"
import process from "node:process"
import { createInterface } from "node:readline"
import { lock as properLock } from "proper-lockfile"
import { FileLock } from "../../src/locks/stores/file/mod.ts"

const [kind = "", directory = ""] = process.argv.slice(2)

/** What a worker does about the lock. */
interface Taker {
  acquire(): Promise<void>
  release(): Promise<unknown>
}

function leasehold(): Taker {
  const lock = new FileLock("bench", { directory })
  return { acquire: async () => void (await lock.acquire({ timeout: "60 s" })), release: () => lock.release() }
}

/** Tries again every 50 ms, as its users do who can't wait for longer. */
function proper(): Taker {
  const retries = { retries: 2000, factor: 1, minTimeout: 50, maxTimeout: 50 }
  let unlock: () => Promise<void> = async () => {}
  return {
    acquire: async () => void (unlock = await properLock(join(directory, "proper"), { realpath: false, retries })),
    release: () => unlock(),
  }
}

const print = (what: string, at: bigint): void => console.log(`${what} ${at}`)
const taker = kind === "leasehold" ? leasehold() : kind === "proper-lockfile" ? proper() : undefined

async function obey(line: string): Promise<void> {
  if (line === "acquire") {
    print("asks", process.hrtime.bigint())
    await taker?.acquire()
    print("has", process.hrtime.bigint())
  } else if (line === "release") {
    const at = process.hrtime.bigint()
    await taker?.release()
    print("gives", at)
  }
}

const lines = createInterface({ input: process.stdin })
lines.on("line", (line) => void obey(line))
lines.on("close", () => process.exit())
if (taker === undefined) print("has", process.hrtime.bigint())
else print("ready", process.hrtime.bigint())
