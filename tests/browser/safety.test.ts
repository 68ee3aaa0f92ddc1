// What the page is told by others is shown as text, and what it is refused it says. The policy holds meanwhile
// (`look`).
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { pageAnswer } from "../../src/inspector/live/server/page-answer.ts"
import { pageHtml } from "../../src/inspector/live/server/page-html.ts"
import { timelineHtml } from "../../src/inspector/timeline.ts"
import { row, running, worker } from "../inspector/live/made.ts"
import { hasBrowser, look, seen, startBrowser } from "./support/browser.ts"
import { type FleetServer, ScriptedFleet, serveFleet, TOKEN } from "./support/fleet-server.ts"

const hostile = {
  script: "order/<script>window.__hacked = 1</script><img src=x onerror=window.__hacked=2>",
  control: "order/\u0000\u001b[31m\r\nsecond line",
  direction: "order/\u202Egnp.exe\u2066",
  unseen: "order/\u200b\ufeff\u00ad",
  quote: `order/" onmouseover="window.__hacked=3" x='\${1}\``,
  half: "order/\ud800",
  long: `order/${"long ".repeat(200_000)}`,
}

describe.runIf(hasBrowser)("the page, told hostile things", () => {
  let browser: Browser
  let server: FleetServer
  beforeAll(async () => {
    browser = await startBrowser()
    const fleet = new ScriptedFleet()
    const now = Date.now()
    const error = {
      tag: "<b>Error</b>",
      code: null,
      message: `\u202e<img src=x onerror=window.__hacked=4>${"!".repeat(100_000)}`,
    }
    fleet.rows = Object.values(hostile).map((key) =>
      row({
        worker: "eu-1",
        key,
        value: running,
        since: now - 1000,
        stuck: "<i>run</i>",
        error,
        deadline: now + 20_000,
      }),
    )
    fleet.workers = [
      worker({ worker: "eu-1", ownerId: "eu-11" }),
      worker({ worker: "<u>\u202eevil</u>", ownerId: "x", problem: "<s>no</s>\u0007" }),
    ]
    fleet.record = { error: "<img src=x onerror=window.__hacked=5>" }
    server = await serveFleet(fleet)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  // Tests inspector: The page asks only its worker, and runs nothing but itself, whatever others wrote.
  it("shows keys, errors and names as text, bounded, with what is unseen made visible", async () => {
    await look(browser, server.url, {}, async (page) => {
      await page.getByText("7 sandboxes").waitFor()
      const list = page.getByRole("grid")
      await list.getByText("<script>window.__hacked = 1</script>").first().waitFor()
      await list.getByText("⟨U+202E⟩gnp.exe⟨U+2066⟩").waitFor()
      await list.getByText("⟨U+001B⟩[31m⟨U+000D⟩⟨U+000A⟩second line").waitFor()
      await list.getByText("⟨U+D800⟩").waitFor()
      const longest = await page.evaluate<number>(
        "Math.max(...[...document.querySelectorAll('.cell, li p, li a, li span')].map((each) => each.textContent.length))",
      )
      expect(longest).toBeLessThan(1200)
      expect(await page.evaluate("window.__hacked")).toBeUndefined()
      expect(await page.locator("main img, main script, main b:text('Error')").count()).toBe(0)
    })
  })

  it.each(Object.entries(hostile))(
    "opens the sandbox whose key is hostile by %s, its sequence and its place in time",
    async (name, key) => {
      await look(browser, server.url, {}, async (page) => {
        await page.getByText("7 sandboxes").waitFor()
        const index = await page.evaluate<number>(
          `[...document.querySelectorAll(".rows .row:not([hidden])")].findIndex((each) => each.querySelector(".key").textContent.includes(${JSON.stringify(
            {
              script: "<script>",
              control: "U+001B",
              direction: "gnp.exe",
              unseen: "U+200B",
              quote: "onmouseover",
              half: "U+D800",
              long: "long long",
            }[name],
          )}))`,
        )
        expect(index).toBeGreaterThanOrEqual(0)
        await page.locator(".rows .row:not([hidden])").nth(index).click()
        await page.getByText("at worker").waitFor()
        const isKey = key.isWellFormed() && key.length <= 512
        const told = isKey ? "<img src=x onerror=window.__hacked=5>" : "No store can have this key"
        await page.getByText(told).first().waitFor()
        const heading = (await page.getByRole("heading", { level: 1 }).textContent()) ?? ""
        expect(heading.length).toBeLessThan(500)
        server.fleet.say({ kind: "state", at: Date.now(), worker: "eu-1", key, value: running, token: 1 })
        await page.getByRole("link", { name: "All of it as a sequence" }).click()
        await page.getByRole("list", { name: "Sequence" }).getByText("owning: running").first().waitFor()
        await page.getByRole("navigation").getByRole("link", { name: "Timeline" }).click()
        await page.getByRole("table").getByText("owning: running").first().waitFor()
        expect(await page.evaluate("window.__hacked")).toBeUndefined()
      })
    },
  )

  it("shows the same in a recorded trace", async () => {
    const lines = Object.values(hostile).map((key, index) => ({
      kind: "state" as const,
      at: index,
      worker: "</script><b>",
      key,
      value: running,
      token: null,
    }))
    const html = timelineHtml({
      header: { kind: "trace", version: 1, source: "live", seed: null, commit: "<!--" },
      lines,
    })
    await using page = await serveOnly(() => pageAnswer(html))
    await look(browser, page.url, {}, async (shown) => {
      await shown.getByText("7 sandboxes").waitFor()
      expect(await shown.evaluate("window.__hacked")).toBeUndefined()
    })
  })
})

describe.runIf(hasBrowser)("the page, refused", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
  })

  // Tests inspector.
  it("is not even given without the token, or under another name", async () => {
    await using server = await serveFleet(new ScriptedFleet())
    const { origin } = new URL(server.url)
    const status = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
      new Promise((resolve, reject) => {
        void import("node:http").then(({ get }) => {
          get(`${origin}${path}`, { headers }, (answer) => {
            answer.resume()
            resolve(answer.statusCode ?? 0)
          }).on("error", reject)
        })
      })
    expect(await status("/")).toBe(401)
    expect(await status("/?token=wrong")).toBe(401)
    expect(await status(`/?token=${TOKEN}`)).toBe(200)
    expect(await status(`/?token=${TOKEN}`, { host: "evil.example" })).toBe(421)
    expect(await status("/events", { authorization: `Bearer ${TOKEN}`, origin: "http://evil.example" })).toBe(403)
    expect(await status("/events", { authorization: "Bearer wrong" })).toBe(401)
  })

  // Tests inspector: A page that loses its worker says so, comes back by itself, or says what a person has to do.
  it("says that the token is of a worker that was started anew, and tries again when told", async () => {
    const fleet = new ScriptedFleet()
    let server = await serveFleet(fleet)
    const { port, url } = server
    try {
      await look(browser, url, { expected: /401|Failed to load|ERR_/ }, async (page) => {
        await page.getByText("Live", { exact: true }).waitFor()
        await server[Symbol.asyncDispose]()
        await page.getByRole("alert").getByText("No connection to the worker").waitFor()
        server = await serveFleet(fleet, { port, token: "another-token-than-before" })
        await page.getByRole("alert").getByText("The worker refuses this page's token").waitFor()
        await server[Symbol.asyncDispose]()
        server = await serveFleet(fleet, { port })
        await page.getByRole("button", { name: "Try again now" }).click()
        await page.getByText("Live", { exact: true }).waitFor()
        expect(await page.getByRole("alert").count()).toBe(0)
      })
    } finally {
      await server[Symbol.asyncDispose]()
    }
  })

  it("comes back by itself after a restart, with what is there then", async () => {
    const fleet = new ScriptedFleet()
    fleet.rows = [row({ worker: "eu-1", key: "before/1", value: running })]
    let server = await serveFleet(fleet)
    const { port, url } = server
    try {
      await look(browser, url, { expected: /Failed to load|ERR_/ }, async (page) => {
        await page.getByRole("grid").getByText("before/1").waitFor()
        await server[Symbol.asyncDispose]()
        await page.getByText("Reconnecting").waitFor()
        fleet.rows = [row({ worker: "eu-1", key: "after/1", value: running })]
        server = await serveFleet(fleet, { port })
        await page.getByRole("grid").getByText("after/1").waitFor()
        expect(await page.getByRole("grid").getByText("before/1").count()).toBe(0)
        await page.getByText("Live", { exact: true }).waitFor()
      })
    } finally {
      await server[Symbol.asyncDispose]()
    }
  })

  it("says that the worker speaks another version", async () => {
    const hello = `event: hello\ndata: ${JSON.stringify({ version: 99, source: "live", now: 0, actions: false, rows: 0, title: null })}\n\n`
    await using server = await serveOnly((path) =>
      path.startsWith("/events")
        ? new Response(hello, { headers: { "content-type": "text/event-stream" } })
        : pageAnswer(pageHtml),
    )
    await look(browser, server.url, {}, async (page) => {
      expect(
        await seen(page.getByRole("alert").getByText("The worker speaks version 99 and this page version 1")),
      ).toBe(true)
    })
  })
})

/** A server that gives whole answers alone. */
async function serveOnly(answer: (path: string) => Response): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer((incoming, outgoing) => {
    const given = answer(incoming.url ?? "/")
    void given.text().then((text) => outgoing.writeHead(given.status, Object.fromEntries(given.headers)).end(text))
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, "127.0.0.1", resolve)
  await promise
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: () => {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      server.closeAllConnections()
      return closed.promise
    },
  }
}
