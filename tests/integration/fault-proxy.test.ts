// The fault proxy as a process: what it prints, what it obeys, and that it ends with its input. It is a process of
// Node's, whatever its clients are.
import { describe, expect, it } from "vitest"
import { TinyServer } from "../support/fault-proxy/scene.ts"
import { type Spawned, spawnScript } from "./support/spawn.ts"

const script = new URL("../support/fault-proxy/main.ts", import.meta.url)
const start = (...args: readonly string[]): Spawned => spawnScript({ runtime: "node", script, args })

/** The lines that it prints, one at each call. */
function linesOf({ child, ended }: Spawned): () => Promise<Record<string, unknown>> {
  let text = ""
  let more = (): void => {}
  child.stdout!.on("data", (chunk: string) => {
    text += chunk
    more()
  })
  const failed = ended.then(({ code, stderr }): never => {
    throw new Error(`it ended with ${code}: ${stderr}`)
  })
  failed.catch(() => {})
  return async () => {
    while (!text.includes("\n")) await Promise.race([new Promise<void>((settle) => (more = settle)), failed])
    const end = text.indexOf("\n")
    const line = text.slice(0, end)
    text = text.slice(end + 1)
    return JSON.parse(line) as Record<string, unknown>
  }
}

describe("the fault proxy as a process", () => {
  it("prints its address and each fault, obeys its input, and ends with it", async () => {
    await using server = new TinyServer()
    await server.listen()
    const proxy = start("--target", server.url, "--seed", "3", "--rates", JSON.stringify({ html: 1 }))
    const next = linesOf(proxy)
    const { ready } = (await next()) as { ready: string }
    const ask = async (path: string): Promise<number> => {
      const response = await fetch(`${ready}${path}`)
      await response.arrayBuffer()
      return response.status
    }
    expect(await ask("/storage/v1/b/x/o/a%2Fb")).toBe(502)
    expect(await next()).toMatchObject({ n: 1, method: "GET", object: "a/b", fault: { kind: "html" } })
    const tell = async (command: { do: string }): Promise<void> => {
      proxy.child.stdin!.write(`${JSON.stringify(command)}\n`)
      expect(await next()).toMatchObject({ did: command.do, at: expect.any(Number) as number })
    }
    await tell({ do: "calm" })
    await tell({ do: "partition" })
    let answered = false
    const held = ask("/held").finally(() => (answered = true))
    await fetch(server.url).then((response) => response.arrayBuffer())
    expect(answered).toBe(false)
    await tell({ do: "heal" })
    expect(await held).toBe(200)
    await tell({ do: "chaos", seed: 1, rates: { html: 1 } } as { do: string })
    expect(await ask("/again")).toBe(502)
    proxy.child.stdin!.end()
    expect(await proxy.ended).toMatchObject({ code: 0, stderr: "" })
  })

  it.each([
    [[], "no --target"],
    [["--target", "nowhere"], "give an http URL"],
    [["--target", "http://127.0.0.1:1", "--seed", "x"], "the seed is NaN"],
    [["--target", "http://127.0.0.1:1", "--colour", "red"], "--colour"],
  ])("with %j: says what is wrong, and ends", async (args, text) => {
    const { code, stdout, stderr } = await start(...args).ended
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toContain(text)
  })

  it("ends when it is told something that it doesn't know", async () => {
    const proxy = start("--target", "http://127.0.0.1:1")
    await linesOf(proxy)()
    proxy.child.stdin!.write(`{"do":"dance"}\n`)
    const { code, stderr } = await proxy.ended
    expect(code).toBe(2)
    expect(stderr).toContain("there are partition, heal, calm and chaos")
  })
})
