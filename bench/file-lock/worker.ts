/**
 * A process that takes and gives back one lock as lines on its standard input say: `worker.ts
 * leasehold|proper-lockfile|watch|idle <directory>`. It prints when it asked, had or gave back the lock, on the clock
 * that all processes of a machine share. `idle` only lives: it is what holds a flock that another program took for it.
 */
import { linkSync, mkdirSync, watch, writeFileSync } from "node:fs"
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

/** No lock: one is told of the other's `link` by `fs.watch`. What no lock on files can do without in Node. */
function bareWatch(): Taker {
  const source = join(directory, "bare")
  writeFileSync(source, "", { flag: "a" })
  return {
    acquire: () =>
      new Promise((resolve) => {
        if (mkdirSync(join(directory, "bare-taken"), { recursive: true }) !== undefined) return resolve()
        const watcher = watch(directory, (_, name) => {
          if (name?.startsWith("bare-free") !== true) return
          watcher.close()
          resolve()
        })
      }),
    release: async () => linkSync(source, join(directory, `bare-free-${process.hrtime.bigint()}`)),
  }
}

const print = (what: string, at: bigint): void => console.log(`${what} ${at}`)
const takers: Readonly<Record<string, () => Taker>> = { leasehold, "proper-lockfile": proper, watch: bareWatch }
const taker = takers[kind]?.()

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
