// A recorded trace as a file that is opened from the disk: timeline, sequence, and the fleet at any moment of it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { timelineHtml } from "../../src/inspector/timeline.ts"
import { recorded, type Recording } from "../inspector/scenario.ts"
import { hasBrowser, look, seen, startBrowser } from "./support/browser.ts"

describe.runIf(hasBrowser)("a recorded trace", () => {
  let browser: Browser
  let folder: string
  let recording: Recording
  const address = (name: string, hash = ""): string => `${pathToFileURL(join(folder, name)).href}${hash}`

  beforeAll(async () => {
    browser = await startBrowser()
    folder = mkdtempSync(join(tmpdir(), "leasehold-page-"))
    recording = await recorded(7)
    writeFileSync(join(folder, "whole.html"), timelineHtml(recording))
    const violation = { at: recording.lines[0]!.at + 61_000, message: "two <owners> & more" }
    writeFileSync(join(folder, "broken.html"), timelineHtml(recording, { title: "seed 7: owners", violation }))
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it("opens without a server, and shows the fleet at its end", async () => {
    await look(browser, address("whole.html"), {}, async (page) => {
      await page.getByText("2 sandboxes").waitFor()
      expect(await page.getByRole("status").getByText("Recorded").count()).toBe(1)
      expect(await page.getByRole("button", { name: /^released/ }).textContent()).toContain("2")
    })
  })

  it("shows the fleet as it was at the moment that one looks back to", async () => {
    await look(browser, address("whole.html"), {}, async (page) => {
      const moment = page.getByRole("slider", { name: "Moment" })
      await moment.fill("600") // of 2000: after half a minute of 104 s
      await page.getByText("Looking back").waitFor()
      expect(await page.getByRole("button", { name: /^owning/ }).textContent()).toContain("1")
      await page.locator(".rows .row", { hasText: "owning · running" }).getByText("b", { exact: true }).waitFor()
      await page.getByRole("button", { name: "One line on", exact: true }).click()
      await page.keyboard.press("l")
      await page.getByText("the end").waitFor()
    })
  })

  it("begins at the violation, says what it is, and shades the faults", async () => {
    await look(browser, address("broken.html"), {}, async (page) => {
      await page.getByRole("alert").getByText("two <owners> & more").waitFor()
      expect(await page.locator("output").textContent()).toContain("61.000 s")
      const table = page.getByRole("table")
      await table.getByText("** pause").waitFor()
      const canvas = page.getByRole("application", { name: /Timeline/ })
      const { width } = (await canvas.boundingBox())!
      // The pause of b lasts from 60.8 s to 102.6 s: it is over four fifths of the way.
      await canvas.hover({ position: { x: width * 0.85, y: 105 } })
      await page
        .locator(".lanes-panel .hover")
        .getByText(/b: \*\* pause/)
        .waitFor()
    })
  })

  it("moves the moment by dragging and by keys, and zooms", async () => {
    await look(browser, address("whole.html", "#/timeline"), {}, async (page) => {
      const canvas = page.getByRole("application", { name: /Timeline/ })
      const box = (await canvas.boundingBox())!
      await page.mouse.move(box.x + box.width * 0.9, box.y + 80)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width * 0.5, box.y + 80, { steps: 4 })
      await page.mouse.up()
      const moment = page.locator("output b")
      const seconds = async (): Promise<number> => Number.parseFloat((await moment.textContent()) ?? "")
      const dragged = await seconds()
      expect(dragged).toBeGreaterThan(20)
      expect(dragged).toBeLessThan(60)
      await canvas.focus()
      await page.keyboard.press("ArrowRight")
      expect(await seconds()).toBeGreaterThan(dragged)
      const range = page.locator(".range")
      const before = await range.textContent()
      await page.keyboard.press("+")
      await expect.poll(() => range.textContent()).not.toBe(before)
    })
  })

  it("shows the sequence of a key: requests with answers, the handoff, the takeover, gaps", async () => {
    await look(browser, address("whole.html"), {}, async (page) => {
      await page.getByRole("navigation").getByRole("link", { name: "Sequence" }).click()
      await page.getByRole("combobox", { name: "Key" }).fill("counter/k")
      await page.keyboard.press("Enter")
      const list = page.getByRole("list", { name: "Sequence" })
      await list.getByText("handed over from a to b").waitFor()
      await list.getByText("taken over from b to a").waitFor()
      await list
        .getByText(/without news/)
        .first()
        .waitFor()

      const renewals = list.getByText("Renewed")
      expect(await renewals.count()).toBe(0)
      await page.getByRole("checkbox", { name: "heartbeats" }).check()
      await expect.poll(() => renewals.count()).toBeGreaterThan(0)
    })
  })

  // Tests inspector: The store's record stands beside the worker's state; differences show by more than colour.
  it("says what the store had beside what a paused worker believed", async () => {
    await look(browser, address("whole.html", "#/sandbox/b/counter%2Fk"), {}, async (page) => {
      await page.getByRole("slider", { name: "Moment" }).fill("1900") // b stands still, a owns
      await page.getByText("They differ where it is marked.").waitFor()
      expect(await seen(page.getByText(/Over for .*: another may take it/))).toBe(true)
    })
  })

  it("plays from the beginning", async () => {
    await look(browser, address("whole.html", "#/timeline"), {}, async (page) => {
      await page.getByRole("button", { name: "Play" }).click()
      await page.getByText("Looking back").waitFor()
      const slider = page.getByRole("slider", { name: "Moment" })
      await expect.poll(async () => Number(await slider.inputValue())).toBeGreaterThan(5)
      await page.getByRole("button", { name: "Pause" }).click()
    })
  })
})
