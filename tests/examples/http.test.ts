import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ActLog, readActs } from "../../examples/sqlite-workers/act-log.ts"
import { database } from "../../examples/sqlite-workers/database.ts"
import { handler } from "../../examples/sqlite-workers/http.ts"
import { memoryStore, SandboxManager } from "../../src/mod.ts"

const folder = mkdtempSync(join(tmpdir(), "leasehold-http-"))
const actsPath = join(folder, "acts.jsonl")
const acts = new ActLog(actsPath)
const server = createServer()
const errors: unknown[] = []
let manager: SandboxManager
let url: string

beforeAll(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  manager = await SandboxManager.start({
    store: memoryStore(),
    sandboxes: [database],
    address: url,
    onError: (error) => errors.push(error),
  })
  server.on("request", handler({ manager, acts, process: "T-1" }))
})
afterAll(async () => {
  await manager[Symbol.asyncDispose]()
  server.close()
  server.closeAllConnections()
  acts[Symbol.dispose]()
  rmSync(folder, { recursive: true })
})

interface Got {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Headers
}

async function post(path: string, body: string, method = "POST"): Promise<Got> {
  const response = await fetch(url + path, method === "GET" ? { method } : { method, body })
  return { status: response.status, body: (await response.json()) as Got["body"], headers: response.headers }
}

const query = (key: string, sql: string, params?: unknown): Promise<Got> =>
  post(`/sandboxes/${encodeURIComponent(key)}/query`, JSON.stringify({ sql, params }))

describe("a worker's HTTP", () => {
  it("answers a write when it is stored, and says who acted under which token", async () => {
    await query("stored", "create table t(a, b)")
    const { status, body } = await query("stored", "insert into t values(?, ?)", ["ä", 1.5])
    expect({ status, body }).toEqual({ status: 200, body: { changes: 1, answeredBy: "T-1", token: body["token"] } })
    expect(body["token"]).toBeGreaterThan(0)
    const image = await manager.readCheckpoint(database, "stored")
    expect(image?.byteLength).toBeGreaterThan(0)
    const read = await query("stored", "select a, b, x'00ff' as blob from t")
    expect(read.body["rows"]).toEqual([{ a: "ä", b: 1.5, blob: "00ff" }])
  })

  it("writes the start and the end of every act to the act log", async () => {
    const before = readActs(actsPath).length
    const { body } = await query("logged", "select 1")
    await query("logged", "select nonsense")
    const lines = readActs(actsPath).slice(before)
    expect(lines.map(({ what }) => what)).toEqual(["start", "end", "start", "end"])
    expect(lines[0]).toMatchObject({ process: "T-1", key: "logged", token: body["token"], sql: "select 1" })
  })

  it("answers 400 with SQLite's reason, and the sandbox goes on", async () => {
    expect(await query("broken", "selec 1")).toMatchObject({
      status: 400,
      body: { error: 'near "selec": syntax error' },
    })
    expect(await query("broken", "select * from nowhere")).toMatchObject({
      status: 400,
      body: { error: "no such table: nowhere" },
    })
    expect(await query("broken", "select 1 as one")).toMatchObject({ status: 200, body: { rows: [{ one: 1 }] } })
  })

  it.each([
    ["/sandboxes/k/query", "not JSON", "The body is not JSON"],
    ["/sandboxes/k/query", "", "The body is not JSON"],
    ["/sandboxes/k/query", "[]", 'Send {"sql"'],
    ["/sandboxes/k/query", "null", 'Send {"sql"'],
    ["/sandboxes/k/query", '{"sql": 1}', 'Send {"sql"'],
    ["/sandboxes/k/query", '{"sql": "select 1", "parms": []}', 'Send {"sql"'],
    ["/sandboxes/k/query", '{"sql": "select ?", "params": [true]}', 'Send {"sql"'],
    ["/sandboxes/k/query", '{"sql": "select ?", "params": [[1]]}', 'Send {"sql"'],
    ["/sandboxes/k/query", '{"sql": "select ?", "params": 1}', 'Send {"sql"'],
    ["/sandboxes/k/query", '{"sql": "select ?", "params": null}', 'Send {"sql"'],
    ["/sandboxes/%ff/query", '{"sql": "select 1"}', "not well encoded"],
    ["/sandboxes/a%00b/query", '{"sql": "select 1"}', "control character"],
    ["/sandboxes/a%2F..%2Fb/query", '{"sql": "select 1"}', ".."],
  ])("answers 400 to what its sender has to mend: %s %s", async (path, body, reason) => {
    const answer = await post(path, body)
    expect(answer.status).toBe(400)
    expect(answer.body["error"]).toContain(reason)
  })

  it("answers 404, 405 and 413 to what is not for it", async () => {
    expect(await post("/", "{}")).toMatchObject({ status: 404 })
    expect(await post("/sandboxes//query", "{}")).toMatchObject({ status: 404 })
    const wrong = await post("/sandboxes/k/query", "", "GET")
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"])
    expect(await query("k", `select '${"x".repeat(1_000_000)}'`)).toMatchObject({ status: 413 })
  })

  it("answers 503 with Retry-After while it takes no work, once every database is saved", async () => {
    expect(await manager.drain()).toEqual({ stuck: [] })
    expect(errors).toEqual([])
    const answer = await query("stored", "select 1")
    expect(answer).toMatchObject({ status: 503, body: { code: "LEASEHOLD_CLOSED" } })
    expect(answer.headers.get("retry-after")).toBe("1")
  })
})
