// Pins who may ask an inspector for what, over real sockets: names, origins, tokens, signatures, sizes, bounds.
import { once } from "node:events"
import { createServer, request as httpRequest } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { InspectorHandler, LONGEST_BODY, MOST_STREAMS } from "../../../../src/inspector/live/server/handler.ts"
import { pagePolicy } from "../../../../src/inspector/live/server/page-html.ts"
import { inspectorSettings, type InspectorOptions } from "../../../../src/inspector/live/workers/options.ts"
import {
  isSame,
  NONCE,
  PROOF,
  proofOf,
  signed,
  SIGNED_FOR,
  TIME,
} from "../../../../src/inspector/live/workers/signature.ts"
import { VirtualTime } from "../../../../src/runtime/time/virtual-time.ts"
import { listen, type Listening, serve } from "../../../../src/web/serve.ts"
import { row } from "../made.ts"
import { ScriptedWorker } from "../scripted-worker.ts"

const TOKEN = "a-token-of-the-test"
const SECRET = "a-secret-of-the-test"

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

interface Asking {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** By node:http, as fetch doesn't let a caller choose its Host. */
async function ask(port: number, path: string, { method = "GET", headers = {}, body }: Asking = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const asked = httpRequest({ host: "127.0.0.1", port, path, method, headers, agent: false }, (answer) => {
    let text = ""
    const told = (): void => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text })
    answer.setEncoding("utf8")
    answer.on("data", (chunk: string) => {
      text += chunk
      if (path.includes("events") && text.includes("event: ready")) {
        told()
        asked.destroy()
      }
    })
    answer.on("end", told)
  })
  asked.on("error", reject)
  asked.end(body)
  return promise
}

const bearer = { authorization: `Bearer ${TOKEN}` }

class Served implements AsyncDisposable {
  readonly worker: ScriptedWorker
  readonly clock: VirtualTime
  readonly #handler: InspectorHandler
  readonly #server: Listening

  static async at(options: InspectorOptions = {}, worker = new ScriptedWorker(new VirtualTime())): Promise<Served> {
    worker.rows = [row({ key: "order/1" })]
    const handler = new InspectorHandler(worker, inspectorSettings({ token: TOKEN, secret: SECRET, ...options }))
    const server = await listen((request) => handler.fetch(request), { host: "127.0.0.1", port: 0 })
    return new Served(worker, handler, server)
  }

  constructor(worker: ScriptedWorker, handler: InspectorHandler, server: Listening) {
    this.worker = worker
    this.clock = worker.clock as VirtualTime
    this.#handler = handler
    this.#server = server
  }

  /** How many requests were answered that came another way. */
  asked = 0

  async fetch(request: Request): Promise<Response> {
    const answer = await this.#handler.fetch(request)
    this.asked++
    return answer
  }

  get port(): number {
    return this.#server.port
  }

  ask(path: string, asking?: Asking): Promise<Answer> {
    return ask(this.port, path, asking)
  }

  sign(method: string, path: string, body = "", secret = SECRET): Record<string, string> {
    return signed(secret, { method, path, authority: `127.0.0.1:${this.port}`, body }, this.clock)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handler[Symbol.asyncDispose]()
    await this.#server[Symbol.asyncDispose]()
  }
}

describe("an inspector", () => {
  let served: Served
  beforeAll(async () => {
    served = await Served.at()
  })
  afterAll(() => served[Symbol.asyncDispose]())

  it("gives its page to whoever has its address, and lets it run nothing but itself", async () => {
    const { status, headers, text } = await served.ask(`/?token=${TOKEN}`)
    expect(status).toBe(200)
    expect(text).toMatch(/^<!doctype html>/i)
    expect(headers["content-security-policy"]).toBe(`${pagePolicy}; frame-ancestors 'none'`)
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; script-src 'sha256-.*frame-ancestors 'none'$/,
    )
    expect(headers).toMatchObject({
      ...{ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store" },
    })
  })

  it("may be mounted under any path, and adds the slash that its page needs", async () => {
    expect((await served.ask(`/some/where/?token=${TOKEN}`)).status).toBe(200)
    const { status, headers } = await served.ask(`/some/where?token=${TOKEN}`)
    expect([status, headers["location"]]).toEqual([308, `./where/?token=${TOKEN}`])
    expect((await served.ask("/some/where/sandbox?key=order%2F1", { headers: bearer })).status).toBe(200)
  })

  it("tells its events, and one sandbox with what the store says", async () => {
    served.worker.record = { error: "the store is away" }
    const events = await served.ask("/events", { headers: bearer })
    expect(events.headers["content-type"]).toMatch(/^text\/event-stream/)
    expect(events.text).toMatch(/event: hello[\s\S]*event: rows[\s\S]*order\/1[\s\S]*event: ready/)
    const { text } = await served.ask("/sandbox?worker=a&key=order%2F1", { headers: bearer })
    expect(JSON.parse(text)).toMatchObject({ row: { key: "order/1" }, store: { error: "the store is away" } })
    expect((await served.ask("/sandbox?worker=a&key=none", { headers: bearer })).status).toBe(404)
    expect((await served.ask("/sandbox?worker=z&key=order%2F1", { headers: bearer })).status).toBe(404)
  })

  // Tests inspector: An asker of an inspector uses our name, comes from no foreign page, and has token or signature.
  it.each<[string, string, Asking, number]>([
    ["a foreign Host", "/events", { headers: { ...bearer, host: "evil.example" } }, 421],
    ["a Host that is none", "/events", { headers: { ...bearer, host: "a b" } }, 400],
    ["a foreign Origin", "/events", { headers: { ...bearer, origin: "http://evil.example" } }, 403],
    ["an Origin of nowhere", "/events", { headers: { ...bearer, origin: "null" } }, 403],
    ["another port's Origin", "/events", { headers: { ...bearer, origin: "http://127.0.0.1:1" } }, 403],
    ["another site's page", "/events", { headers: { ...bearer, "sec-fetch-site": "cross-site" } }, 403],
    ["no token", "/events", {}, 401],
    ["a wrong token", "/events", { headers: { authorization: `Bearer ${TOKEN}x` } }, 401],
    ["a token in the address of anything but the page", `/events?token=${TOKEN}`, {}, 401],
    ["the page without a token", "/", {}, 401],
    ["the page with a wrong token", "/?token=wrong", {}, 401],
    ["another method", "/events", { method: "POST", headers: bearer }, 405],
    ["an action by GET", "/action", { headers: bearer }, 405],
  ])("refuses %s", async (_what, path, asking, status) => {
    const answer = await served.ask(path, asking)
    expect(answer.status).toBe(status)
    expect(answer.text).not.toContain(TOKEN)
    expect(status === 400 || typeof (JSON.parse(answer.text) as { error: unknown }).error).not.toBe("undefined")
  })

  it("takes its own origin, an address as its name, and a link that is followed to the page", async () => {
    const origin = `http://127.0.0.1:${served.port}`
    expect((await served.ask("/events", { headers: { ...bearer, origin } })).status).toBe(200)
    expect((await served.ask("/events", { headers: { ...bearer, host: "10.1.2.3:80" } })).status).toBe(200)
    expect((await served.ask("/events", { headers: { ...bearer, host: "[::1]:80" } })).status).toBe(200)
    const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }
    expect((await served.ask(`/?token=${TOKEN}`, { headers: link })).status).toBe(200)
  })

  it("takes names that it was told of, and those of its address", async () => {
    const worker = new ScriptedWorker(new VirtualTime())
    worker.address = "http://worker-7.internal:8080"
    await using own = await Served.at({ hosts: ["Admin.Example"] }, worker)
    for (const host of ["admin.example", "worker-7.internal:8080"]) {
      expect((await own.ask("/events", { headers: { ...bearer, host } })).status).toBe(200)
    }
  })

  it("draws a token where none is given, which nobody guesses", async () => {
    const make = (seed: number): string => {
      const worker = new ScriptedWorker(new VirtualTime({ seed }))
      return new InspectorHandler(worker, inspectorSettings({})).token
    }
    expect(make(1)).toMatch(/^[\w-]{32}$/)
    expect(make(1)).not.toBe(make(2))
  })

  // Tests inspector: A client that takes nothing is dropped; without clients nothing is listened to.
  it("bounds how many look at once", async () => {
    await using own = await Served.at()
    const streams = Array.from({ length: MOST_STREAMS }, () => new AbortController())
    const open = await Promise.all(
      streams.map(({ signal }) => fetch(`http://127.0.0.1:${own.port}/events`, { headers: bearer, signal })),
    )
    expect(open.map(({ status }) => status)).toEqual(open.map(() => 200))
    const refused = await own.ask("/events", { headers: bearer })
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "10"])
    streams[0]!.abort()
    await expect.poll(async () => (await own.ask("/events", { headers: bearer })).status).toBe(200)
  })

  it("isn't looked at by who left before it was asked", async () => {
    await using own = await Served.at()
    const server = createServer((request, response) => {
      response.once("close", () => void serve((asked) => own.fetch(asked), request, response))
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    for (let left = 0; left < MOST_STREAMS; left++) {
      const asked = httpRequest({ port, host: "127.0.0.1", path: "/events", headers: bearer, agent: false })
      asked.on("error", () => {}).end()
      await once(server, "request")
      asked.destroy()
    }
    await expect.poll(() => server.listening && own.asked).toBe(MOST_STREAMS)
    expect((await own.ask("/events", { headers: bearer })).status).toBe(200)
    server.close()
  })

  it("answers with 503 once it is closed, and ends what is open", async () => {
    const worker = new ScriptedWorker(new VirtualTime())
    const handler = new InspectorHandler(worker, inspectorSettings({ token: TOKEN }))
    const events = (): Promise<Response> => handler.fetch(new Request("http://127.0.0.1/events", { headers: bearer }))
    const reader = (await events()).body!.getReader()
    await handler[Symbol.asyncDispose]()
    while (!(await reader.read()).done);
    expect((await events()).status).toBe(503)
    expect(worker.sinks.size).toBe(0)
  })
})

describe("actions", () => {
  const action = JSON.stringify({ action: "handoff", worker: "a", key: "order/1" })

  // Tests inspector: Nothing is done with a sandbox unless actions are allowed, also at the worker that has it.
  it("are refused unless they were allowed", async () => {
    await using served = await Served.at()
    const { status, text } = await served.ask("/action", { method: "POST", headers: bearer, body: action })
    expect([status, text]).toEqual([403, expect.stringContaining("actions: true")])
    expect(served.worker.acts).toEqual([])
  })

  it("are done where they are allowed, once for each request", async () => {
    await using served = await Served.at({ actions: true })
    const { text } = await served.ask("/action", { method: "POST", headers: bearer, body: action })
    expect(JSON.parse(text)).toEqual({ done: true, message: "done" })
    expect(served.worker.acts).toEqual([{ action: "handoff", worker: "a", key: "order/1" }])
    const other = JSON.stringify({ action: "cordon", worker: "z" })
    const unknown = await served.ask("/action", { method: "POST", headers: bearer, body: other })
    expect(JSON.parse(unknown.text)).toMatchObject({ done: false, message: expect.stringContaining("isn't known") })
  })

  it.each([
    ["", 400],
    ["null", 400],
    ["[]", 400],
    ['{"action":"remove","worker":"a","key":"k"}', 400],
    ['{"action":"handoff","worker":"a"}', 400],
    [`"${"x".repeat(LONGEST_BODY)}"`, 413],
  ])("are refused where the body is none: %.40s", async (body, status) => {
    await using served = await Served.at({ actions: true })
    expect((await served.ask("/action", { method: "POST", headers: bearer, body })).status).toBe(status)
    expect(served.worker.acts).toEqual([])
  })

  it("are refused from another origin, and without a token", async () => {
    await using served = await Served.at({ actions: true })
    const foreign = { ...bearer, origin: "http://evil.example" }
    expect((await served.ask("/action", { method: "POST", headers: foreign, body: action })).status).toBe(403)
    expect((await served.ask(`/action?token=${TOKEN}`, { method: "POST", body: action })).status).toBe(401)
    expect(served.worker.acts).toEqual([])
  })
})

describe("a request that another worker signs", () => {
  // Tests inspector: A signed request counts once, for a minute, for its address, method, path and body.
  it("is answered with this worker's own rows, and the proof that it knows the secret", async () => {
    await using served = await Served.at()
    const headers = served.sign("GET", "/_leasehold/events")
    const answer = await served.ask("/_leasehold/events", { headers })
    expect(answer.status).toBe(200)
    expect(isSame(String(answer.headers[PROOF]), proofOf(SECRET, headers[NONCE]!))).toBe(true)
  })

  it.each<[string, (served: Served) => Promise<Record<string, string>>, RegExp]>([
    [
      "is signed with another secret",
      async (own) => own.sign("GET", "/events", "", "another-secret-of-it"),
      /another secret/,
    ],
    ["is signed for another path", async (own) => own.sign("GET", "/sandbox"), /another secret, or for another/],
    ["is signed for another method", async (own) => own.sign("POST", "/events"), /another secret, or for another/],
    [
      "has another time than the signed one",
      async (own) => ({ ...own.sign("GET", "/events"), [TIME]: "1" }),
      /another secret/,
    ],
    [
      "is old",
      async (own) => {
        const headers = own.sign("GET", "/events")
        await own.clock.advance(SIGNED_FOR + 1)
        return headers
      },
      /more than a minute/,
    ],
    [
      "was used before",
      async (own) => {
        const headers = own.sign("GET", "/events")
        await own.ask("/events", { headers })
        return headers
      },
      /used before/,
    ],
  ])("is refused where it %s", async (_how, headersOf, problem) => {
    await using served = await Served.at()
    const { status, text } = await served.ask("/events", { headers: await headersOf(served) })
    expect([status, text]).toEqual([403, expect.stringMatching(problem)])
  })

  it("is refused by who knows its own address and is asked for another's", async () => {
    const worker = new ScriptedWorker(new VirtualTime())
    worker.address = "http://worker-7.internal:8080"
    await using served = await Served.at({}, worker)
    expect((await served.ask("/events", { headers: served.sign("GET", "/events") })).status).toBe(403)
  })

  it("covers the body of an action", async () => {
    await using served = await Served.at({ actions: true })
    const body = JSON.stringify({ action: "cordon", worker: "a" })
    const headers = served.sign("POST", "/action", body)
    const changed = JSON.stringify({ action: "handoff", worker: "a", key: "order/1" })
    expect((await served.ask("/action", { method: "POST", headers, body: changed })).status).toBe(403)
    expect((await served.ask("/action", { method: "POST", headers, body })).status).toBe(200)
    expect(served.worker.acts).toEqual([{ action: "cordon", worker: "a" }])
  })
})

describe("the options of an inspector", () => {
  it.each<[Record<string, unknown>, RegExp]>([
    [{ token: "short" }, /token is a text of 5 characters.*at least 16/],
    [{ secret: "s3cret" }, /secret is a text of 6 characters/],
    [{ secret: "ünprintable-secret-of-it" }, /visible ASCII/],
    [{ actions: 1 }, /actions is 1/],
    [{ hosts: [""] }, /hosts has/],
    [{ peers: ["ftp://a"] }, /peers has .*http:\/\/host:port/],
    [{ peers: ["http://user:pass@a"] }, /peers has/],
    [{ allow: true }, /allow is true/],
    [{ colour: "red" }, /colour is no option/],
  ])("%o are refused", (options, problem) => {
    expect(() => inspectorSettings(options)).toThrow(problem)
  })
})
