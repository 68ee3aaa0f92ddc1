// `leasehold top` and `leasehold open` as their users have them: on a terminal, beside a worker, ended by signals.
import { writeFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { SandboxManager } from "../../src/actors/manager/manager.ts"
import { serveInspector } from "../../src/inspector/mod.ts"
import { memoryStore } from "../../src/locks/stores/memory-store.ts"
import { formatTrace } from "../../src/trace/trace-text.ts"
import { counter } from "../actors/world.ts"
import { recorded, type Recording } from "../inspector/scenario.ts"
import { says, Shell } from "./support/command.ts"

const ENTER = "\u001b[?1049h"
const LEAVE = "\u001b[?1049l"

let recording: Recording
beforeAll(async () => {
  recording = await recorded(7)
})

function traceIn({ directory }: Shell): string {
  const path = join(directory, "run.ndjson")
  writeFileSync(path, formatTrace(recording))
  return path
}

describe("top on a terminal", () => {
  // Tests inspector: A terminal is as it was before, however `leasehold top` ends, and no key steers it.
  it.each([
    ["q on Node", "q", "node"],
    ["q on Deno", "q", "deno"],
    ["Ctrl-C", "\\x03", "node"],
  ] as const)("gives it back as it was at %s", async (_name, keys, runtime) => {
    const shell = new Shell(runtime)
    const { stdout } = await shell.onTerminal("counter/k", keys, "top", traceIn(shell))
    expect(stdout.indexOf(ENTER)).toBe(0)
    expect(stdout.lastIndexOf(LEAVE)).toBeGreaterThan(stdout.indexOf("counter/k"))
    expect(stdout).toMatch(/code 0\n$/)
    // oxlint-disable-next-line no-control-regex -- NO_COLOR is set
    expect(stdout).not.toMatch(/\u001b\[3[0-9]m/)
  })

  it.each(["TERM", "INT", "HUP"])("gives it back as it was at SIG%s", async (signal) => {
    const shell = new Shell()
    // The shell hears of the key that is typed once it is shown, and sends the signal.
    const line = `"$@" </dev/null & read key; kill -${signal} $!; wait $!; echo ended $?`
    const { stdout } = await shell.inPipe(line, "counter/k", "\\n", "top", traceIn(shell))
    expect(stdout.lastIndexOf(LEAVE)).toBeGreaterThan(stdout.indexOf("counter/k"))
    expect(stdout).toContain("ended 0")
  })

  it("tells lines in place of a screen where TERM is dumb, or --plain is given", async () => {
    const dumb = new Shell("node", { TERM: "dumb" })
    for (const [shell, ...words] of [[dumb], [new Shell(), "--plain"]] as const) {
      const { stdout } = await shell.onTerminal("", "", "top", ...words, traceIn(shell))
      expect(stdout).not.toContain(ENTER)
      expect(stdout).toContain("counter/k  owning: running\n")
    }
  })
})

describe.each(["node", "deno"] as const)("beside a worker, on %s", (runtime) => {
  it("top tells what its sandboxes do until it is ended, and refuses a wrong token", async () => {
    const sandbox = counter()
    await using manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [sandbox] })
    await using page = await serveInspector(manager)
    const shell = new Shell(runtime)
    const top = shell.start("top", page.url)
    await says(top, "connected")
    await manager.use(sandbox, "k", (count) => ++count.n)
    await says(top, "counter/k  owning: running")
    top.signal("SIGINT")
    const { code, stdout, stderr } = await top.ended
    expect({ code, token: `${stdout}${stderr}`.includes(new URL(page.url).searchParams.get("token")!) }).toEqual({
      code: 0,
      token: false,
    })
    const wrong = await shell.call("top", withWrongToken(page.url))
    expect(wrong).toMatchObject({ code: 64, stderr: expect.stringContaining("status 401") })
  })

  it("open serves the trace to whoever has its address, and nobody else, until it is ended", async () => {
    const shell = new Shell(runtime)
    const open = shell.start("open", "--json", traceIn(shell))
    const [, url = ""] = /"url": "([^"]+)"/.exec(await says(open, '"lines"')) ?? []
    const page = await fetch(url)
    expect([page.status, page.headers.get("content-security-policy")]).toEqual([
      200,
      expect.stringContaining("default-src 'none'"),
    ])
    expect(await page.text()).toContain("counter/k")
    expect((await fetch(withWrongToken(url))).status).toBe(401)
    expect((await fetch(new URL("/other", url))).status).toBe(404)
    expect(await statusFor(url, "evil.example")).toBe(421)
    open.signal("SIGINT")
    expect((await open.ended).code).toBe(0)
  })
})

/** Its token is another in one sign only, whatever that was. */
const withWrongToken = (url: string): string =>
  url.replace(/token=(.)/, (_, sign: string) => `token=${sign === "-" ? "_" : "-"}`)

async function statusFor(url: string, host: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  request(url, { headers: { host }, agent: false }, (answer) => resolve(answer.resume().statusCode))
    .on("error", reject)
    .end()
  return promise
}
