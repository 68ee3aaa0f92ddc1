// Each fault of the proxy, as the server, the client and the log see it: real HTTP, the proxy's own delays on virtual
// time.
import { createHash } from "node:crypto"
import { connect } from "node:net"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Chaos, type ChaosOptions, defaultRates, type Rates } from "./chaos.ts"
import type { Fault } from "./fault.ts"
import { WriteLimiter } from "./limiter.ts"
import { type Delivered, startFaultProxy } from "./proxy.ts"
import { ProxyScene, serverTime, type Told } from "./scene.ts"

let scene: ProxyScene
beforeEach(async () => void (scene = await new ProxyScene().start()))
afterEach(() => scene[Symbol.asyncDispose]())

const sides = [
  ["before", 0],
  ["after", 1],
] as const

const ok = { status: 200, body: "POST /a body", date: serverTime }

/** That the client hears nothing, until it gives up: meanwhile others are served. */
async function hearsNothing(fault: Fault): Promise<void> {
  scene.proxy.next({ on: "POST", fault })
  const abort = new AbortController()
  const arrived = scene.proxy.arrival({ on: "POST" })
  let settled = false
  const answer = scene.post("/a", abort.signal).finally(() => (settled = true))
  await arrived
  expect(await scene.get()).toMatchObject({ status: 200 })
  expect(settled).toBe(false)
  abort.abort()
  expect(await answer).toEqual({ lost: "ECANCELED" })
}

describe("without a fault", () => {
  it("a request and its answer pass through as they are, once, and nothing is logged", async () => {
    expect(await scene.post()).toMatchObject(ok)
    expect(scene.server.got).toEqual(["POST /a body"])
    expect(scene.log).toEqual([])
  })

  it("an answer keeps its headers", async () => {
    const response = await fetch(`${scene.proxy.url}/a`)
    await response.text()
    expect(response.headers.get("x-goog-generation")).toBe("7")
  })
})

describe("a fault before or after the server took the request", () => {
  it.each(sides)("status, %s", async (when, got) => {
    scene.proxy.next({ fault: { kind: "status", when, status: 503 } })
    const answer = await scene.post()
    expect(answer).toMatchObject({ status: 503, type: "application/json; charset=UTF-8" })
    expect(JSON.parse(answer.body!)).toMatchObject({ error: { code: 503 } })
    expect(scene.server.got).toHaveLength(got)
  })

  it.each(sides)("an HTML page of a 502, %s", async (when, got) => {
    scene.proxy.next({ fault: { kind: "html", when } })
    const answer = await scene.post()
    expect(answer).toMatchObject({ status: 502, type: "text/html; charset=UTF-8" })
    expect(answer.body).toContain("<!DOCTYPE html>")
    expect(scene.server.got).toHaveLength(got)
  })

  it.each(sides)("a reset, %s, on a warm connection: one POST arrives", async (when, got) => {
    await scene.get()
    scene.proxy.next({ on: "POST", fault: { kind: "reset", when } })
    expect(await scene.post()).toMatchObject({ lost: expect.any(String) as string })
    expect(scene.proxy.count({ on: "POST" })).toBe(1)
    expect(scene.server.got.filter((line) => line.startsWith("POST"))).toHaveLength(got)
    expect(await scene.post()).toMatchObject(ok)
  })

  it.each(sides)("a stall, %s", async (when, got) => {
    await hearsNothing({ kind: "stall", when })
    expect(scene.server.got.filter((line) => line.startsWith("POST"))).toHaveLength(got)
  })

  it("a delay before: the request reaches the server late, also when its client is gone", async () => {
    await hearsNothing({ kind: "delay", when: "before", ms: 5000 })
    expect(scene.server.got).toEqual(["GET /a "])
    await scene.clock.advance(4999)
    await scene.get("/b")
    expect(scene.server.got).toEqual(["GET /a ", "GET /b "])
    await scene.clock.advance(1)
    await scene.server.nth(3)
    expect(scene.server.got.at(-1)).toBe("POST /a body")
  })

  it("a delay after: the answer comes late", async () => {
    scene.proxy.next({ fault: { kind: "delay", when: "after", ms: 5000 } })
    const delayed = scene.clock.pendingTimers
    let settled = false
    const answer = scene.post().finally(() => (settled = true))
    await scene.server.nth(1)
    await scene.get()
    expect(settled).toBe(false)
    expect(scene.clock.pendingTimers).toBe(delayed + 1)
    await scene.clock.advance(5000)
    expect(await answer).toMatchObject(ok)
  })
})

describe("a fault of the answer", () => {
  it("half a body, then silence", async () => {
    scene.proxy.next({ fault: { kind: "half" } })
    const abort = new AbortController()
    const response = await fetch(`${scene.proxy.url}/abcdef`, { signal: abort.signal })
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    expect(new TextDecoder().decode(value)).toBe("GET /a")
    expect(response.headers.get("content-length")).toBe(String("GET /abcdef ".length))
    const rest = reader.read().catch((error: Error) => error.name)
    abort.abort()
    expect(await rest).toBe("AbortError")
  })

  it("garbage with a 200, after the server took the request", async () => {
    scene.proxy.next({ fault: { kind: "garbage" } })
    const answer = await scene.post()
    expect(answer).toMatchObject({ status: 200, type: "application/json" })
    expect(() => JSON.parse(answer.body!) as unknown).toThrow("JSON")
    expect(scene.server.got).toHaveLength(1)
  })

  it("a skewed Date, in whole seconds", async () => {
    scene.proxy.next({ fault: { kind: "date", skewMs: -1500 } }, { fault: { kind: "date", skewMs: 3_600_000 } })
    expect((await scene.get()).date).toBe("Fri, 27 Nov 2026 11:59:58 GMT")
    expect((await scene.get()).date).toBe("Fri, 27 Nov 2026 13:00:00 GMT")
  })

  it("a missing Date", async () => {
    scene.proxy.next({ fault: { kind: "date", skewMs: null } })
    const { date, status } = await scene.get()
    expect({ date, status }).toEqual({ date: undefined, status: 200 })
  })

  it("an Age, as of an answer that lay in a cache", async () => {
    scene.proxy.next({ fault: { kind: "age", seconds: 60 } })
    const response = await fetch(`${scene.proxy.url}/a`)
    expect([response.status, response.headers.get("age"), await response.text()]).toEqual([200, "60", "GET /a "])
    expect((await fetch(`${scene.proxy.url}/a`)).headers.get("age")).toBe(null)
  })
})

describe("a duplicate", () => {
  it("is delivered once more, later, and its answer is dropped", async () => {
    scene.proxy.next({ fault: { kind: "duplicate", ms: 3000 } })
    expect(await scene.post()).toMatchObject(ok)
    expect(await scene.get()).toMatchObject({ body: "GET /a " })
    await scene.clock.advance(3000)
    await scene.server.nth(3)
    expect(scene.server.got).toEqual(["POST /a body", "GET /a ", "POST /a body"])
  })
})

describe("the limit of one write a second for each object", () => {
  beforeEach(async () => {
    await scene[Symbol.asyncDispose]()
    scene = await new ProxyScene().start({ limit: true })
  })

  const statuses = (answers: Promise<Told>[]): Promise<number[]> =>
    Promise.all(answers.map(async (answer) => (await answer).status ?? 0))

  it("answers a second write with 429, whichever comes first, and leaves reads and other objects alone", async () => {
    expect((await statuses([scene.post("/o/a"), scene.post("/o/a")])).sort((one, two) => one - two)).toEqual([200, 429])
    expect(await statuses([scene.get("/o/a"), scene.post("/o/b"), scene.post("/upload?name=c")])).toEqual([
      200, 200, 200,
    ])
    expect(scene.log.map(({ object, fault }) => [object, fault.kind])).toEqual([["a", "limited"]])
  })

  it("is that of the server, where several proxies share it", async () => {
    const limit = new WriteLimiter(scene.clock)
    await using one = await new ProxyScene().start({ limit, target: scene.server.url })
    await using other = await new ProxyScene().start({ limit, target: scene.server.url })
    expect(await one.post("/o/a")).toMatchObject({ status: 200 })
    expect(await other.post("/o/a")).toMatchObject({ status: 429 })
    await scene.clock.advance(1000)
    expect(await other.post("/o/a")).toMatchObject({ status: 200 })
  })

  it("lets the next one pass after a second", async () => {
    await scene.post("/o/a")
    await scene.clock.advance(999)
    expect(await scene.post("/o/a")).toMatchObject({ status: 429 })
    await scene.clock.advance(1)
    expect(await scene.post("/o/a")).toMatchObject({ status: 200 })
  })

  it("doesn't count a write that the server refused", async () => {
    scene.server.status = 412
    expect(await scene.post("/o/a")).toMatchObject({ status: 412 })
    scene.server.status = 200
    expect(await scene.post("/o/a")).toMatchObject({ status: 200 })
  })
})

describe("a partition", () => {
  const request = (path: string): string => `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi`
  /** Settles when the bytes have left this process. */
  const sent = (socket: ReturnType<typeof connect>, text: string): Promise<void> =>
    new Promise((settle, fail) => socket.write(text, (error) => (error == null ? settle() : fail(error))))

  it("holds what is sent on an open connection and on a new one, and lets it arrive when it is healed", async () => {
    const port = Number(new URL(scene.proxy.url).port)
    const open = connect(port, "127.0.0.1").resume() // one that left with something unread would reset the connection
    const warmed = scene.server.nth(1)
    await sent(open, request("/warm"))
    await warmed
    scene.proxy.partition()
    const fresh = connect(port, "127.0.0.1")
    await Promise.all([sent(open, request("/open")), sent(fresh, request("/fresh"))])
    await fetch(`${scene.server.url}/meanwhile`).then((response) => response.text())
    expect(scene.proxy.seen.map(({ path }) => path)).toEqual(["/warm"])
    open.destroy()
    scene.proxy.heal()
    await scene.server.nth(4)
    expect(scene.server.got.slice(0, 2)).toEqual(["POST /warm hi", "GET /meanwhile "])
    expect(scene.server.got.slice(2).sort()).toEqual(["POST /fresh hi", "POST /open hi"])
    fresh.destroy()
  })

  it("holds the answer to what was sent before", async () => {
    scene.proxy.next({ on: "POST", fault: { kind: "delay", when: "before", ms: 10 } })
    const arrived = scene.proxy.arrival({ on: "POST" })
    let settled = false
    const answer = scene.post().finally(() => (settled = true))
    await arrived
    scene.proxy.partition()
    await scene.clock.advance(10)
    await scene.server.nth(1)
    await fetch(`${scene.server.url}/meanwhile`).then((response) => response.text())
    expect(settled).toBe(false)
    scene.proxy.heal()
    expect(await answer).toMatchObject(ok)
  })

  it("that is over leaves the proxy as it was", async () => {
    scene.proxy.partition()
    scene.proxy.heal()
    scene.proxy.heal()
    expect(await scene.post()).toMatchObject(ok)
  })
})

describe("a script", () => {
  const status = (code: number): Fault => ({ kind: "status", when: "before", status: code })

  it("gives each fault to the first request that fits, in the order of calls", async () => {
    scene.proxy.next(
      { on: "POST", fault: status(500) },
      { of: /name=b c$/, fault: status(501) },
      { fault: status(502) },
    )
    expect(await scene.get("/x?name=b%20c")).toMatchObject({ status: 501 })
    expect(await scene.get("/x?name=b%20c")).toMatchObject({ status: 502 })
    expect(await scene.post()).toMatchObject({ status: 500 })
    expect(await scene.post()).toMatchObject({ status: 200 })
  })

  it("has rules that hold until they are lifted, and yields to those that hold once", async () => {
    const rule = scene.proxy.always({ on: "GET", fault: status(503) })
    scene.proxy.next({ fault: status(500) })
    expect(await scene.get()).toMatchObject({ status: 500 })
    expect(await scene.get()).toMatchObject({ status: 503 })
    expect(await scene.post()).toMatchObject({ status: 200 })
    rule[Symbol.dispose]()
    expect(await scene.get()).toMatchObject({ status: 200 })
  })

  it("logs each fault with the request that it befell", async () => {
    await scene.get()
    scene.proxy.next({ on: "POST", fault: status(500) })
    await scene.post("/upload/o?name=a%2Fb")
    expect(scene.log).toEqual([
      { at: scene.clock.read().wall, n: 2, method: "POST", object: "a/b", fault: status(500) },
    ])
  })
})

describe("what reached the server", () => {
  // Tests traces: What took effect at a real server is recorded by the proxy before it, not by its sender.
  it("is told with the server's own answer, once for each time, whatever the client hears", async () => {
    const told: string[] = []
    const delivered = ({ object, request, answer }: Delivered): void =>
      void told.push(`${request.method} ${object} ${request.body.toString()}: ${answer.status}`)
    await using own = await new ProxyScene().start({ delivered, limit: true })
    own.proxy.next({ fault: { kind: "status", when: "before", status: 500 } }) // never reaches it
    await own.post("/a")
    expect(told).toEqual([])
    own.proxy.next({ fault: { kind: "status", when: "after", status: 500 } })
    expect(await own.post("/a")).toMatchObject({ status: 500 })
    expect(await own.post("/a")).toMatchObject({ status: 429 }) // by the limit, before it reaches it
    await own.get("/b")
    expect(told).toEqual(["POST /a body: 200", "GET /b : 200"])
    own.proxy.next({ fault: { kind: "duplicate", ms: 3000 } })
    await own.post("/c")
    const again = own.proxy.delivery()
    await own.clock.advance(3000)
    await again
    expect(told.slice(2)).toEqual(["POST /c body: 200", "POST /c body: 200"])
  })

  it("has the time at which it was sent there, however late the answer", async () => {
    const times: number[] = []
    await using own = await new ProxyScene().start({ delivered: ({ at }) => void times.push(at) })
    const from = own.clock.read().wall
    own.proxy.next({ fault: { kind: "delay", when: "before", ms: 500 } })
    const arrived = own.proxy.arrival()
    const answer = own.post("/a")
    await arrived
    await own.clock.advance(500)
    await answer
    expect(times).toEqual([from + 500])
  })
})

describe("chaos", () => {
  const faults = async (seed: number): Promise<unknown[]> => {
    await using own = await new ProxyScene().start()
    own.proxy.chaos({ seed, rates: { status: 0.3, html: 0.2, garbage: 0.1, date: 0.1 } })
    for (let n = 0; n < 40; n++) await own.post()
    return own.log.map(({ n, fault }) => ({ n, fault }))
  }

  it("meets the same requests with the same faults for the same seed, and with others for another", async () => {
    const [one, again, other] = [await faults(7), await faults(7), await faults(8)]
    expect(one.length).toBeGreaterThan(10)
    expect(again).toEqual(one)
    expect(other).not.toEqual(one)
  })

  it("draws the same on every runtime", () => {
    const chaos = new Chaos({ seed: 2 ** 40 + 1 })
    const draws = Array.from({ length: 5000 }, () => chaos.draw() ?? null)
    expect(createHash("sha256").update(JSON.stringify(draws)).digest("hex")).toBe(
      "772cec1f02a4ca69ea1f34100ae51ecfdc9ce2b910dbb8f1e9e69f6f9c6d4794",
    )
  })

  it("reaches every kind of fault, each as often as its rate says", () => {
    const chaos = new Chaos({ seed: 1 })
    const counts: Record<string, number> = {}
    const draws = 20_000
    for (let n = 0; n < draws; n++) {
      const kind = chaos.draw()?.kind
      if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1
    }
    for (const [kind, rate] of Object.entries(defaultRates)) {
      expect(counts[kind]! / draws / rate).toBeGreaterThan(0.6)
      expect(counts[kind]! / draws / rate).toBeLessThan(1.4)
    }
  })

  it("ends when it is told to", async () => {
    scene.proxy.chaos({ seed: 1, rates: { status: 1 } })
    expect((await scene.get()).status).not.toBe(200)
    scene.proxy.calm()
    expect(await scene.get()).toMatchObject({ status: 200 })
  })

  it.each([
    [{ seed: 1.5 }, "the seed is 1.5"],
    [{ seed: 1, rates: { status: 0.6, half: 0.6 } }, "together at most 1"],
    [{ seed: 1, rates: { status: Number.NaN } }, "give 0 to 1 for each"],
    [{ seed: 1, rates: { fire: 0.1 } as Rates }, "there is no fault fire"],
  ] as [ChaosOptions, string][])("refuses %j", (options, text) => {
    expect(() => scene.proxy.chaos(options)).toThrow(text)
  })
})

describe("a server that can't be reached", () => {
  it("is a reset to the client, and a line of the log", async () => {
    await scene.server[Symbol.asyncDispose]()
    expect(await scene.post()).toMatchObject({ lost: expect.any(String) as string })
    expect(scene.log).toMatchObject([{ fault: { kind: "unreachable" } }])
    await scene.server.listen()
    expect(scene.log).toHaveLength(1)
  })

  it("is refused where its address is none", async () => {
    await expect(startFaultProxy({ target: "https://storage" })).rejects.toThrow("give an http URL")
  })

  it("and a port that is taken: says so, and leaves nothing behind", async () => {
    const port = Number(new URL(scene.proxy.url).port)
    await expect(startFaultProxy({ target: scene.server.url, port })).rejects.toThrow("EADDRINUSE")
  })
})
