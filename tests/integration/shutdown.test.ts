/** Servers that end under load: a use that had its effect was answered, and the answer arrived whole. */
import { mkdtemp, rm } from "node:fs/promises"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { describe, expect, it, onTestFinished } from "vitest"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import { defineSandbox, SandboxManager, unchecked } from "../../src/mod.ts"
import { says } from "./support/command.ts"
import { type Runtime, type Spawned, spawnScript } from "./support/spawn.ts"

/** Of each runtime. They are under load ten at a time. */
const LIVES = 100
const AT_ONCE = 10
/** Answers that a life has given before it is asked to end: some clients have kept their connections by then. */
const ANSWERS_BEFORE = 15
/** What an answer holds. */
const BYTES = 60_000

/** What the clients of one life saw. */
class Tally {
  answered = 0
  refused = 0
  /** Answers that began, and weren't whole. */
  readonly cut: string[] = []
  readonly others: number[] = []
  isOver = false
  readonly #enough = Promise.withResolvers<void>()

  get enough(): Promise<void> {
    return this.#enough.promise
  }

  answer(status: number, bytes: number): void {
    if (status === 503) this.refused++
    else if (status !== 200) this.others.push(status)
    else if (bytes !== BYTES) this.cut.push(`${bytes} bytes`)
    else if (++this.answered >= ANSWERS_BEFORE) this.#enough.resolve()
  }
}

/** One request. Settles when its answer is there, or its connection was refused or closed before any of it. */
function ask(url: string, agent: Agent, tally: Tally): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(url, { method: "POST", agent }, (response) => {
      let bytes = 0
      response.on("data", (part: Uint8Array) => (bytes += part.byteLength))
      response.on("error", (error) => resolve(void tally.cut.push(String(error))))
      response.on("end", () => resolve(tally.answer(response.statusCode ?? 0, bytes)))
    })
    sent.on("error", () => resolve())
    sent.end()
  })
}

/** Asks without a pause until the life is over. */
async function client(url: string, keepAlive: boolean, tally: Tally): Promise<void> {
  using agent = { it: new Agent({ keepAlive, maxSockets: 1 }), [Symbol.dispose]: () => agent.it.destroy() }
  while (!tally.isOver) await ask(url, agent.it, tally)
}

const clientsOf = (url: string, tally: Tally): Promise<unknown> =>
  Promise.all([true, true, true, false, false].map((keepAlive) => client(url, keepAlive, tally)))

/** What a worker says, by its first two words. */
class Lines {
  readonly #said = new Map<string, PromiseWithResolvers<readonly string[]>>()

  constructor({ child }: Spawned) {
    createInterface(child.stdout!).on("line", (line) => {
      const [what, life, ...rest] = line.split(" ")
      this.#of(`${what} ${life}`).resolve(rest)
    })
  }

  after(words: string): Promise<readonly string[]> {
    return this.#of(words).promise
  }

  #of(words: string): PromiseWithResolvers<readonly string[]> {
    let said = this.#said.get(words)
    if (said === undefined) this.#said.set(words, (said = Promise.withResolvers<readonly string[]>()))
    return said
  }
}

async function started(runtime: Runtime, lives: number): Promise<{ worker: Spawned; directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-shutdown-"))
  onTestFinished(() => rm(directory, { recursive: true }))
  const script = new URL("shutdown-worker.ts", import.meta.url)
  const worker = spawnScript({ runtime, script, args: [directory, String(lives)] })
  onTestFinished(() => void worker.signal("SIGKILL"))
  return { worker, directory }
}

describe.each(["node", "deno"] as const)("a server on %s that ends under load", (runtime) => {
  // Tests processes: A server that ends on a signal answers each use that had its effect, in 200 shutdowns under load.
  it("loses no answer", async () => {
    const { worker } = await started(runtime, LIVES)
    const lines = new Lines(worker)
    const lives = Array.from({ length: LIVES }, (_, life) => life).values()
    const ends: unknown[] = []
    const tallies: Tally[] = []
    const run = async (life: number): Promise<void> => {
      const [url = ""] = await lines.after(`life ${life}`)
      const tally = new Tally()
      tallies.push(tally)
      const clients = clientsOf(url, tally)
      await tally.enough
      worker.child.stdin?.write(`end ${life}\n`)
      const [code, stored] = await lines.after(`over ${life}`)
      tally.isOver = true
      await clients
      ends.push({ code, lost: Number(stored) - tally.answered, cut: tally.cut, others: tally.others })
    }
    const lane = async (): Promise<void> => {
      for (const life of lives) await run(life)
    }
    const broken = worker.ended.then((ended) => Promise.reject(new Error(`it ended: ${ended.stderr}`)))
    await Promise.race([broken, Promise.all(Array.from({ length: AT_ONCE }, lane))])
    expect(ends).toEqual(Array.from({ length: LIVES }, () => ({ code: "143", lost: 0, cut: [], others: [] })))
    expect(tallies.every(({ answered }) => answered >= ANSWERS_BEFORE)).toBe(true)
  })

  it("loses none where its process really ends", async () => {
    const { worker, directory } = await started(runtime, 0)
    const url = /http\S+/.exec(await says(worker, "http"))![0]
    const tally = new Tally()
    const clients = clientsOf(url, tally)
    await tally.enough
    worker.signal("SIGTERM")
    const { code, stderr } = await worker.ended
    tally.isOver = true
    await clients
    const counter = defineSandbox({
      name: "counter",
      schema: unchecked<{ n: number }>(),
      restore: () => ({ n: 0 }),
      checkpoint: (state) => state,
    })
    await using manager = await SandboxManager.start({ store: fileStore({ directory }), sandboxes: [counter] })
    const saved = await manager.readCheckpoint(counter, "life-0")
    expect({ code, stderr, cut: tally.cut, others: tally.others }).toEqual({
      code: 143,
      stderr: "",
      cut: [],
      others: [],
    })
    expect(saved?.n).toBe(tally.answered)
  })
})
