/**
 * What docs/seeing-it.md tells to type, as it stands there: at a page that is really served, and with a trace that a
 * worker really wrote. Its lines that draw a module of the user's are run by cli-chart.test.ts.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { sandboxChart } from "../../src/actors/chart/chart.ts"
import { SandboxManager } from "../../src/actors/manager/manager.ts"
import { EdgeCounter, toSvg } from "../../src/draw/mod.ts"
import { serveInspector } from "../../src/inspector/mod.ts"
import { memoryStore } from "../../src/locks/stores/memory-store.ts"
import { parseTrace } from "../../src/trace/trace-text.ts"
import type { StateLine } from "../../src/trace/trace.ts"
import { counter, failure } from "../actors/world.ts"
import { says, Shell } from "./support/command.ts"
import { drawsModule, seeingIt } from "./support/pages.ts"
import { type Runtime, type Spawned, spawnProgram } from "./support/spawn.ts"

const tools = fileURLToPath(new URL("../../node_modules/.bin", import.meta.url))
const sandbox = counter()
const cleanup = new AsyncDisposableStack()

/** Where leases.ndjson is. */
let folder: string
/** Of a page whose worker has one sandbox and waits for another. */
let address: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "leasehold-seeing-it-"))
  cleanup.defer(() => rmSync(folder, { recursive: true }))
  await writeTrace(join(folder, "leases.ndjson"))
  const store = memoryStore()
  const start = async (id: string): Promise<SandboxManager> =>
    cleanup.use(await SandboxManager.start({ store, sandboxes: [sandbox], incarnation: { id } }))
  const [other, shown] = [await start("other"), await start("shown")]
  await other.restoreSandbox(sandbox, "theirs")
  await shown.restoreSandbox(sandbox, "ours")
  void failure(shown.restoreSandbox(sandbox, "theirs", { whenOwned: "wait", timeout: "1 h" })) // until it is disposed
  address = cleanup.use(await serveInspector(shown)).url
})

afterAll(() => cleanup.disposeAsync())

async function writeTrace(file: string): Promise<void> {
  await using manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [sandbox], trace: file })
  await manager.use(sandbox, "k", (count) => ++count.n, { durable: true })
}

/** What the trace says of states. */
const states = (): readonly StateLine[] =>
  parseTrace(readFileSync(join(folder, "leases.ndjson"), "utf8")).lines.filter(
    (line): line is StateLine => line.kind === "state",
  )

/** A line of the page where it is typed, for a shell in which the command is called `"$@"`. */
const inFolder = (line: string): string =>
  `cd '${folder}' && exec ${line.replace("npx leasehold", '"$@"').replace("http://127.0.0.1:43121/?token=…", address)}`

/** Runs it on a terminal, where q is typed once it shows that. */
async function onTerminal(line: string, runtime: Runtime, shows: string): Promise<void> {
  const { stdout } = await new Shell(runtime).inPipe(inFolder(line), shows, "q")
  expect(stdout).toContain(shows)
  expect(stdout).toMatch(/code 0\n$/)
}

/** Begins it where there is no terminal. */
const begin = (line: string, runtime: Runtime): Spawned => new Shell(runtime).startIn(inFolder(line))

/** As with Ctrl-C. What it has told on standard output. */
async function interrupted(spawned: Spawned): Promise<string> {
  spawned.signal("SIGINT")
  const { code, stdout } = await spawned.ended
  expect(code).toBe(0)
  return stdout
}

/** The secret that programs have which are started after it. */
async function drawn(line: string): Promise<string | undefined> {
  const env = { PATH: `${tools}${delimiter}${process.env["PATH"]}`, LEASEHOLD_SECRET: "" }
  const sh = spawnProgram("sh", ["-c", `${line}\nenv`], { env })
  onTestFinished(() => void sh.signal("SIGKILL"))
  const { stdout } = await sh.ended
  return /^LEASEHOLD_SECRET=(.*)$/m.exec(stdout)?.[1]
}

/** Runs each line of the page, and sees that it does what the page says. */
const runs: Readonly<Record<string, (line: string, runtime: Runtime) => Promise<void>>> = {
  'export LEASEHOLD_SECRET="$(node -p \'crypto.randomBytes(24).toString("base64")\')"': async (line) => {
    const secrets = [await drawn(line), await drawn(line)]
    for (const secret of secrets) expect(secret).toMatch(/^[\w+/]{32}$/)
    expect(new Set(secrets).size).toBe(2)
    await using manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [sandbox] })
    await using page = await serveInspector(manager, { secret: secrets[0]! })
    expect((await fetch(page.url)).status).toBe(200)
  },

  "npx leasehold top 'http://127.0.0.1:43121/?token=…'": (line, runtime) => onTerminal(line, runtime, "counter/ours"),

  "npx leasehold top --plain --search 'state:waiting waited>10s' 'http://127.0.0.1:43121/?token=…'": async (
    line,
    runtime,
  ) => {
    const top = begin(line, runtime)
    await says(top, "counter/theirs  waiting: watching\n")
    expect(await interrupted(top)).not.toContain("counter/ours")
  },

  "npx leasehold top leases.ndjson": (line, runtime) => onTerminal(line, runtime, "counter/k"),

  "npx leasehold open leases.ndjson": async (line, runtime) => {
    const open = begin(line, runtime)
    const [url = ""] = /http:\S+/.exec(await says(open, "?token=")) ?? []
    const answer = await fetch(url)
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")])
    expect(await answer.text()).toContain("counter/k")
    expect(await interrupted(open)).toBe(`${url}\n`)
  },

  "npx leasehold chart --trace leases.ndjson -o run.svg": async (line, runtime) => {
    onTestFinished(() => rmSync(join(folder, "run.svg"), { force: true }))
    const { code, stdout } = await begin(line, runtime).ended
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" })
    const edges = new EdgeCounter(sandboxChart)
    for (const state of states()) edges.saw(state.key, state.value)
    const { counts, shared } = edges.result()
    expect(counts).toMatchObject({ "acquiring.trying--lock.acquired[0]": 1 })
    expect(readFileSync(join(folder, "run.svg"), "utf8")).toBe(await toSvg(sandboxChart, { counts, shared }))
  },
}

describe.each(["node", "deno"] as const)("on %s", (runtime) => {
  it.each(Object.entries(runs))("%s", async (line, run) => {
    await expect(run(line, runtime)).resolves.toBeUndefined()
  })
})

it("leaves no line of the page to nobody", () => {
  expect(new Set(seeingIt().filter((line) => !drawsModule(line)))).toEqual(new Set(Object.keys(runs)))
})
