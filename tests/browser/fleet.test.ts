// The fleet's screen in a real browser, over the inspector's real server: counts, filter, search, heat map, list,
// attention.
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { row, running, waiting } from "../inspector/live/made.ts"
import { hasBrowser, look, seen, startBrowser } from "./support/browser.ts"
import { type FleetServer, ScriptedFleet, serveFleet } from "./support/fleet-server.ts"
import { sampleRows, sampleWorkers, silentWorker, troubledRows } from "./support/sample-fleet.ts"

describe.runIf(hasBrowser)("the fleet", () => {
  let browser: Browser
  let server: FleetServer
  const fleet = new ScriptedFleet()
  beforeAll(async () => {
    browser = await startBrowser()
    const now = Date.now()
    fleet.rows = [...sampleRows(300, now), ...troubledRows(now)]
    fleet.workers = [...sampleWorkers(), silentWorker()]
    server = await serveFleet(fleet)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  it("counts sandboxes by state, and shows those of a state at a click", async () => {
    await look(browser, server.url, {}, async (page) => {
      await page.getByText("304 sandboxes").waitFor()
      const card = page.getByRole("button", { name: /^waiting/ })
      const shown = Number(await card.locator("strong").textContent())
      expect(shown).toBe(fleet.rows.filter(({ value }) => "waiting" in value).length)
      await card.click()
      await page.getByText(`${shown} of 304`).waitFor()
      expect(await page.getByRole("searchbox").inputValue()).toBe("state:waiting")
      const states = await page.locator(".rows .row:not([hidden]) .cell.state").allTextContents()
      expect(new Set(states)).toEqual(new Set(["waiting"]))
      await card.click()
      await page.getByText("304 sandboxes").waitFor()
    })
  })

  it("finds by key, worker, state and time held, and says what is wrong with a search", async () => {
    await look(browser, server.url, {}, async (page) => {
      const search = page.getByRole("searchbox", { name: "Search sandboxes" })
      const found = page.locator("#found")
      await page.getByText("304 sandboxes").waitFor()
      for (const [text, count] of [
        ["stuck-in", 2],
        ["worker:eu-1 stuck-in", 1],
        ["state:stuck", 1],
        [
          "held>5m",
          fleet.rows.filter(({ ownedSince }) => ownedSince !== null && Date.now() - ownedSince > 300_000).length,
        ],
      ] as const) {
        await search.fill(text)
        await expect.poll(() => found.textContent()).toContain(`${count} of 304`)
      }
      await search.fill("held>soon")
      await expect.poll(() => found.textContent()).toContain("can't be compared")
      expect(await search.getAttribute("aria-invalid")).toBe("true")
    })
  })

  it("keeps the search in the address, so that it can be sent to somebody", async () => {
    await look(browser, `${server.url}#/fleet/worker%3Aus-1%20state%3Awaiting`, {}, async (page) => {
      await expect.poll(() => page.locator("#found").textContent()).toMatch(/^\s*\d+ of 304/)
      expect(await page.getByRole("searchbox").inputValue()).toBe("worker:us-1 state:waiting")
      await page.getByRole("searchbox").fill("cart/")
      await expect.poll(() => page.url()).toContain("#/fleet/cart%2F")
    })
  })

  it("draws a cell for each sandbox, names the one that is pointed at, and opens it", async () => {
    await look(browser, server.url, {}, async (page) => {
      const first = fleet.rows[0]!
      const canvas = page.getByRole("application", { name: /heat map/i })
      await page.getByText("304 sandboxes").waitFor()
      await canvas.hover({ position: { x: 6, y: 6 } })
      await page.locator(".hover").getByText(first.key).waitFor()
      await canvas.click({ position: { x: 6, y: 6 } })
      expect(await seen(page.getByRole("heading", { level: 1, name: first.key }))).toBe(true)
    })
  })

  it("says what needs attention and why, and what is known of each worker", async () => {
    await look(browser, server.url, {}, async (page) => {
      const attention = page.getByRole("region", { name: /Needs attention/ })
      await attention.getByText("Its run goes on past its limit").first().waitFor()
      await attention
        .getByText(/Its lease reaches its guard|is past its guard/)
        .first()
        .waitFor()
      await attention.getByText("It changed hands 9 times").waitFor()
      await attention.getByText(/There its run goes on past its limit/).waitFor()
      const workers = page.getByRole("region", { name: /^Workers/ })
      await workers.getByText("connection refused").waitFor()
      await workers.getByText("takes nothing new in").waitFor()
      expect(await workers.getByText("−340 ms").count()).toBe(1)
      await page.getByText("Nothing is known of 1 worker").waitFor()
      await workers.getByRole("button", { name: "us-1" }).click()
      await expect.poll(() => page.getByRole("searchbox").inputValue()).toBe("worker:us-1")
    })
  })

  it("sorts by a column, and back", async () => {
    await look(browser, server.url, {}, async (page) => {
      await page.getByText("304 sandboxes").waitFor()
      const first = page.locator('.row[aria-rowindex="2"] .key')
      await page.getByRole("button", { name: "For" }).click()
      const longest = fleet.rows.toSorted((a, b) => a.since - b.since)[0]!.key
      await expect.poll(() => first.textContent()).toBe(longest)
      await page.getByRole("button", { name: "Key", exact: true }).click()
      await expect.poll(() => first.textContent()).toMatch(/^cart/)
      await page.getByRole("button", { name: "Key", exact: true }).click()
      await expect.poll(() => first.textContent()).toMatch(/^session/)
    })
  })

  it("shows a change within a moment, and nothing else moves", async () => {
    await look(browser, server.url, {}, async (page) => {
      const { key } = fleet.rows[0]!
      await page.getByRole("searchbox").fill(key)
      const cell = page.locator('.row[aria-rowindex="2"] .state')
      await cell.getByText("owning · running").waitFor()
      const now = Date.now()
      fleet.say({ kind: "state", at: now, worker: "eu-1", key, value: waiting, token: null })
      await cell.getByText("waiting").waitFor()
      fleet.say({ kind: "state", at: now, worker: "eu-1", key, value: running, token: 5 })
      expect(await seen(cell.getByText("owning · running"))).toBe(true)
    })
  })
})

describe.runIf(hasBrowser)("a fleet of 100,000 sandboxes", () => {
  let browser: Browser
  let server: FleetServer
  const fleet = new ScriptedFleet()
  beforeAll(async () => {
    browser = await startBrowser()
    fleet.rows = [...sampleRows(100_000, Date.now())]
    fleet.workers = sampleWorkers()
    server = await serveFleet(fleet)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  it("is listed with as many elements as are seen, scrolled to its end, and searched", async () => {
    await look(browser, server.url, {}, async (page) => {
      await page.getByText("100,000 sandboxes").waitFor()
      const list = page.getByRole("grid")
      expect(await list.locator(".rows .row").count()).toBeLessThan(100)
      expect(await list.getAttribute("aria-rowcount")).toBe("100001")
      await list.focus()
      await page.keyboard.press("End")
      await page.locator('.row[aria-rowindex="100001"].chosen').waitFor()
      await page.getByRole("searchbox").fill("/199997")
      await expect.poll(() => page.locator("#found").textContent()).toContain("1 of 100,000")
      await page.getByRole("searchbox").fill("19999")
      await expect
        .poll(() => page.locator("#found").textContent())
        .toContain(`${fleet.rows.filter(({ key }) => key.includes("19999")).length} of 100,000`)
    })
  })

  it("forgets a row that is released and gone, and takes new ones in", async () => {
    await look(browser, server.url, {}, async (page) => {
      await page.getByText("100,000 sandboxes").waitFor()
      server.fleet.say({ kind: "state", at: Date.now(), worker: "eu-1", key: "new/1", value: running, token: 1 })
      await page.getByText("100,001 sandboxes").waitFor()
      server.fleet.tell([row({ worker: "eu-1", key: "new/2", value: running })])
      expect(await seen(page.getByText("100,002 sandboxes"))).toBe(true)
    })
  })
})
