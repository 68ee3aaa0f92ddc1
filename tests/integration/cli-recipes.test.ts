/**
 * What the pages tell to type, as it stands there: the deploy script of docs/command.md, the two web servers of
 * docs/providers.md.
 */
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { delimiter, join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { describe, expect, it, onTestFinished } from "vitest"
import { says, Shell } from "./support/command.ts"
import { block, page, typed } from "./support/pages.ts"
import { type Spawned, spawnProgram } from "./support/spawn.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const tools = `${join(root, "node_modules", ".bin")}${delimiter}${process.env["PATH"]}`

/** Begins a program in a process group of its own, of which nothing is left after the test. */
function startGroup([command, ...args]: readonly [string, ...string[]], where: Where): Spawned {
  const spawned = spawnProgram("setsid", [command, ...args], where)
  onTestFinished(async () => {
    // A run that is told to end ends its command, which has a group of its own.
    if (spawned.signal("SIGCONT")) process.kill(-spawned.child.pid!, "SIGTERM")
    await spawned.ended
  })
  return spawned
}

interface Where {
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

/** Where `./deploy.sh` and `leasehold` are what a user has. */
class Place {
  readonly shell: Shell = new Shell()
  readonly folder: string = join(this.shell.directory, "place")

  constructor(deploy: string) {
    const bin = join(this.folder, "bin")
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(this.folder, "deploy.sh"), `#!/bin/sh\n${deploy}\n`, { mode: 0o755 })
    const command = `exec node --conditions=leasehold-source ${join(root, "src", "cli", "bin.ts")} "$@"`
    writeFileSync(join(bin, "leasehold"), `#!/bin/sh\n${command}\n`, { mode: 0o755 })
  }

  /** Begins a script there, by a shell that ends at the first failure that nobody looks at. */
  start(script: string): Spawned {
    const PATH = `${join(this.folder, "bin")}${delimiter}${tools}`
    const env = { PATH, LEASEHOLD_STORE: `file:${this.shell.directory}`, NO_COLOR: "1" }
    return startGroup(["sh", "-e", "-c", script], { env, cwd: this.folder })
  }
}

describe("the deploy script", () => {
  const script = block("docs/command.md", "sh", "./deploy.sh")

  // Tests command: What a page tells to type runs as it stands there.
  it("ends as the deploy ended", async () => {
    const failing = new Place('echo "deploys $LEASEHOLD_KEY"; exit 3').start(script)
    expect(await failing.ended).toMatchObject({ code: 3, stdout: "deploys deploy\n" })
    expect(await new Place("echo deploys").start(script).ended).toMatchObject({ code: 0, stdout: "deploys\n" })
  })

  it("waits for the deploy before it, and says so where that takes too long", async () => {
    const place = new Place('echo "at work"; read line; echo done')
    const first = place.start(script)
    await says(first, "at work")
    expect(script).toContain(" 10min ")
    const late = await place.start(script.replace(" 10min ", " 5 ")).ended
    expect(late).toMatchObject({ code: 99, stdout: "another deploy is still running\n" })
    const second = place.start(script)
    await says(second, "waiting for")
    second.child.stdin?.end("\n")
    first.child.stdin?.end("\n")
    for (const each of [first, second]) expect(await each.ended).toMatchObject({ code: 0, stdout: "at work\ndone\n" })
  })
})

/** Two ports that nobody listens on. Both are held until both are known: they differ. */
async function freePorts(): Promise<readonly string[]> {
  const servers = [createServer(), createServer()]
  for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening")
  const ports = servers.map((server) => String((server.address() as AddressInfo).port))
  for (const server of servers) await once(server.close(), "close")
  return ports
}

describe("the web servers", () => {
  const lines = typed(block("docs/providers.md", "console", "examples/web-server/main.ts"))

  // Tests command.
  it("sell a seat once, by the lines that are typed on the page", async () => {
    const { directory } = new Shell()
    const ports = await freePorts()
    const instead = new Map([
      ["~/.leasehold-seats", join(directory, "seats")],
      ...["8081", "8082"].map((port, index) => [port, ports[index]!] as const),
    ])
    const any = new RegExp([...instead.keys()].join("|"), "g")
    const [one, other, ask] = lines.map((line) => line.replaceAll(any, (found) => instead.get(found)!))
    const bash = startGroup(["bash", "-s"], { env: { PATH: tools }, cwd: root })
    bash.child.stdin?.write(`trap 'kill $(jobs -p)' EXIT\n${one}\n${other}\n`)
    await Promise.all(ports.map((port) => says(bash, `listening on http://127.0.0.1:${port}`)))
    bash.child.stdin?.end(`${ask}\n`)
    const { stdout } = await bash.ended
    const answers = stdout.split("\n").filter((line) => line.startsWith("12A"))
    expect(answers).toEqual([expect.stringMatching(/^12A is (ada|bob)'s$/), answers[0]])
  })
})

// Tests command.
it("the README shows each recipe as its page does", () => {
  const readme = page("README.md")
  const shown = [
    typed(block("docs/providers.md", "console", "examples/web-server/main.ts")),
    [block("docs/command.md", "console", "0 3 * * *"), block("docs/command.md", "sh", "./deploy.sh")],
  ].flat()
  expect(shown).toHaveLength(5)
  for (const text of shown) expect(readme).toContain(text.trim())
})
