/** The web server of docs/providers.md, twice, on one directory: a seat is sold once, whichever of them is asked. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { says } from "./support/command.ts"
import { type Spawned, spawnScript } from "./support/spawn.ts"

const script = new URL("../../examples/web-server/main.ts", import.meta.url)

/** A server, and where it listens. */
async function serve(directory: string): Promise<{ readonly server: Spawned; readonly url: string }> {
  const server = spawnScript({ runtime: "Deno" in globalThis ? "deno" : "node", script, env: { DIRECTORY: directory } })
  onTestFinished(() => void server.signal("SIGKILL"))
  const url = /http\S+/.exec(await says(server, "listening on"))![0]
  return { server, url }
}

async function buy(url: string, seat: string, buyer: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/seats/${seat}`, {
    method: "POST",
    body: buyer,
    headers: { connection: "close" },
  })
  return { status: response.status, text: await response.text() }
}

it("a seat is sold once, whoever asks whichever server, and both end when they are told to", async () => {
  const directory = mkdtempSync(join(tmpdir(), "leasehold-seats-"))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const servers = await Promise.all([serve(directory), serve(directory)])
  const buyers = Array.from({ length: 12 }, (_, index) => `buyer ${index}`)
  const answers = await Promise.all(buyers.map((buyer, index) => buy(servers[index % 2]!.url, "12A", buyer)))
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array<number>(11).fill(409)])
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(await buy(servers[0].url, "13A", "ada")).toEqual({ status: 201, text: "13A is ada's\n" })
  expect((await buy(servers[0].url, "..", "ada")).status).toBe(404)
  for (const { server } of servers) server.signal("SIGTERM")
  for (const { server } of servers) expect(await server.ended).toMatchObject({ code: 143, stderr: "" })
})
