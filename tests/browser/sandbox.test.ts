// One sandbox's screen in a real browser: chart, lease, record beside belief, the machine in it, actions.
import type { Browser } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { row, running, settling } from "../inspector/live/made.ts"
import { hasBrowser, look, seen, startBrowser } from "./support/browser.ts"
import { type FleetServer, ScriptedFleet, serveFleet } from "./support/fleet-server.ts"
import { sampleWorkers } from "./support/sample-fleet.ts"

const KEY = "order/42"
const machine = `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="60" viewBox="0 0 200 60" onload="alert(1)">
  <style>rect { fill: #eee } .lit rect { fill: #acf }</style><script>alert(2)</script>
  <g class="state leaf" data-state="paid"><rect x="2" y="2" width="90" height="40"/><text x="10" y="25">paid</text></g>
  <g class="state leaf" data-state="sent"><rect x="100" y="2" width="90" height="40"/><text x="110" y="25">sent</text></g>
  <image href="https://example.invalid/x.png"/><a href="javascript:alert(3)"><text x="1" y="50">x</text></a></svg>`

describe.runIf(hasBrowser)("a sandbox", () => {
  let browser: Browser
  let server: FleetServer
  let fleet: ScriptedFleet
  let expiresAt = 0
  const address = (): string => `${server.url}#/sandbox/eu-1/order%2F42`

  beforeAll(async () => {
    browser = await startBrowser()
  })
  beforeEach(async () => {
    fleet = new ScriptedFleet()
    server = await serveFleet(fleet, { actions: true })
    const now = Date.now()
    expiresAt = now + 25_000
    fleet.workers = sampleWorkers()
    fleet.rows = [
      row({
        worker: "eu-1",
        key: KEY,
        value: running,
        token: 77,
        since: now - 60_000,
        ownedSince: now - 60_000,
        deadline: expiresAt - 3000,
      }),
      row({ worker: "eu-2", key: KEY, value: { waiting: "watching" }, since: now - 1000, token: null }),
    ]
    const record = { ownerId: "eu-11", address: null, token: 77, expiresAt: expiresAt - 12, waiterId: null, line: [] }
    fleet.record = { ...record, generation: "g-123", at: now }
    fleet.machine = { svg: machine, value: "paid" }
  })
  afterEach(async () => {
    await server[Symbol.asyncDispose]()
  })
  afterAll(async () => {
    await browser?.close()
  })

  it("shows its chart with the state lit, and marks the edge that was taken", async () => {
    await look(browser, address(), {}, async (page) => {
      const lit = page.locator(".chart").first().locator(".state.leaf.lit")
      await expect
        .poll(() => lit.evaluateAll((all) => all.map((each) => each.getAttribute("data-state"))))
        .toEqual(expect.arrayContaining(["owning.work.running", "owning.lease.healthy"]))
      fleet.say({
        kind: "state",
        at: Date.now(),
        worker: "eu-1",
        key: KEY,
        value: settling,
        token: 77,
        leaving: "handoff",
      })
      await expect
        .poll(() => lit.evaluateAll((all) => all.map((each) => each.getAttribute("data-state"))))
        .toContain("handingOff.work.settling")
      const last = page.locator(".chart").first().locator(".edge.last")
      await expect
        .poll(() => last.evaluateAll((all) => all.map((each) => each.getAttribute("data-edge"))))
        .toContain("owning.work.running--lock.releaseRequested[0]")
      await page
        .locator(".chart")
        .first()
        .getByText(/^[×≤]1$/)
        .first()
        .waitFor()
      await page.getByText("handing off · settling").waitFor()
    })
  })

  it("has the lit state in sight when it is opened from the list", async () => {
    await look(browser, server.url, {}, async (page) => {
      await page.getByText(KEY).first().click()
      const chart = page.locator(".chart").first()
      const boxes = async (): Promise<boolean> => {
        const [lit, room] = [
          await chart.locator('[data-state="owning.work.running"]').boundingBox(),
          await chart.boundingBox(),
        ]
        if (lit === null || room === null) return false
        return lit.y >= room.y && lit.y + lit.height <= room.y + room.height && lit.x >= room.x
      }
      await expect.poll(boxes).toBe(true)
    })
  })

  it("drains its lease to the guard, then to the expiry", async () => {
    const deadline = Date.now() + 3_600_000
    fleet.rows = [row({ worker: "eu-1", key: KEY, value: running, token: 1, deadline, ownedSince: 0 })]
    await look(browser, address(), { calm: true }, async (page) => {
      const words = page.locator(".lease .words")
      await page.clock.setFixedTime(deadline - 1000)
      await expect.poll(() => words.textContent()).toMatch(/to its guard, [\d.]+ s to its expiry/)
      await page.clock.setFixedTime(deadline + 1000)
      await expect.poll(() => words.textContent()).toMatch(/In its guard: the owner has stopped/)
      await page.clock.setFixedTime(deadline + 60_000)
      await expect.poll(() => words.textContent()).toMatch(/Over for .*: another may take it/)
    })
  })

  // Tests inspector: The store's record stands beside the worker's state; differences show by more than colour.
  it("shows what the store says beside what the worker believes, and marks where they differ", async () => {
    await look(browser, address(), {}, async (page) => {
      const table = page.getByRole("table")
      await page.getByText("They agree where both know.").waitFor()
      expect(await table.getByRole("row", { name: /owner/ }).textContent()).toMatch(/eu-1\s*eu-1/)
      expect(await page.getByText("g-123").count()).toBe(1)
      fleet.record = {
        ownerId: "eu-21",
        address: null,
        token: 78,
        expiresAt,
        waiterId: null,
        line: [],
        generation: "g-124",
        at: Date.now(),
      }
      await page.getByText("They differ where it is marked.").waitFor()
      const owner = table.getByRole("row", { name: /owner\s+differs/ })
      expect(await owner.textContent()).toMatch(/eu-1\s*eu-2/)
      expect(await owner.locator("svg").count()).toBe(1)
      fleet.record = { error: "The store doesn't answer." }
      await page.getByText("The store doesn't answer.").waitFor()
    })
  })

  // Tests inspector: Of a drawing that a worker sends, shapes and text alone are shown.
  it("draws the machine that lives in it, of which nothing but shapes and text is taken", async () => {
    await look(browser, address(), {}, async (page) => {
      const chart = page.locator(".chart.machine")
      await chart.locator('.lit[data-state="paid"]').waitFor()
      expect(await chart.locator("script, image, a").count()).toBe(0)
      expect(await chart.locator("svg").first().getAttribute("onload")).toBeNull()
    })
  })

  it("says who else has the key, and leads there", async () => {
    await look(browser, address(), {}, async (page) => {
      await page.locator('[data-panel="others"]').getByRole("link", { name: "eu-2" }).click()
      await page
        .getByText(/at worker/)
        .getByText("eu-2")
        .waitFor()
      expect(await seen(page.getByText("It has waited"))).toBe(true)
    })
  })

  it("does what is asked only after it was asked once more", async () => {
    await look(browser, address(), {}, async (page) => {
      await page.getByRole("button", { name: "Hand it off" }).click()
      const dialog = page.getByRole("dialog", { name: "Hand this sandbox off?" })
      await dialog.getByRole("button", { name: "Leave it" }).click()
      expect(fleet.acts).toEqual([])
      await page.getByRole("button", { name: "Hand it off" }).click()
      await dialog.getByRole("button", { name: "Hand it off" }).click()
      await page.getByText("done", { exact: true }).waitFor()
      expect(fleet.acts).toEqual([{ action: "handoff", worker: "eu-1", key: KEY }])
      await page.getByRole("button", { name: "Save a checkpoint" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Save a checkpoint" }).click()
      await page.getByRole("button", { name: "Cordon the worker" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Cordon the worker" }).click()
      await expect
        .poll(() => fleet.acts.slice(1))
        .toEqual([
          { action: "checkpoint", worker: "eu-1", key: KEY },
          { action: "cordon", worker: "eu-1" },
        ])
    })
  })

  it("offers no action where none is allowed", async () => {
    await using still = await serveFleet(fleet)
    await look(browser, `${still.url}#/sandbox/eu-1/order%2F42`, {}, async (page) => {
      await page.getByText("They agree where both know.").waitFor()
      expect(await page.getByRole("button", { name: "Hand it off" }).count()).toBe(0)
    })
  })

  it("says that there is no such sandbox", async () => {
    await look(browser, `${server.url}#/sandbox/eu-1/nobody`, { expected: /404/ }, async (page) => {
      expect(await seen(page.getByText("has no such sandbox"))).toBe(true)
    })
  })
})
