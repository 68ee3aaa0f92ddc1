// The page for everybody: by keyboard alone, with names and roles for who hears it, contrast, narrow windows, less
// motion.
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { hasBrowser, look, startBrowser } from "./support/browser.ts"
import { type FleetServer, ScriptedFleet, serveFleet } from "./support/fleet-server.ts"
import { sampleRows, sampleWorkers, silentWorker, troubledRows } from "./support/sample-fleet.ts"

const screens = ["#/", "#/sandbox/eu-1/order%2Fstuck-in-its-run", "#/timeline", "#/sequence/order%2Fstuck-in-its-run"]

/** Of each text that is seen, where it has less contrast with what is behind it than WCAG's AA asks. */
const FAINT = `(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  }
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] / 255 + below[i] * (1 - top[3] / 255)).concat(255)
  const ground = (element) => {
    const layers = []
    for (let at = element; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor))
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 255])
  }
  const faint = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement
    if (!node.textContent.trim() || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    if (element.closest(".sr-only, option, noscript, script, style, :disabled")) continue
    const style = getComputedStyle(element)
    const back = ground(element)
    const [a, b] = [light(over(rgba(style.color), back)), light(back)].sort((x, y) => y - x)
    const ratio = (a + 0.05) / (b + 0.05)
    const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700)
    if (ratio < (isLarge ? 3 : 4.5)) faint.push(node.textContent.trim().slice(0, 40) + " " + ratio.toFixed(2))
  }
  return [...new Set(faint)]
})()`

/** What can be used and has no name, ids that stand twice, and references to none. */
const NAMELESS = `(() => {
  const wrong = []
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id)
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push("twice: " + id)
  for (const each of document.querySelectorAll(":is([aria-labelledby], [aria-describedby]):not(dialog:not([open]))")) {
    for (const name of ["aria-labelledby", "aria-describedby"]) {
      for (const id of (each.getAttribute(name) ?? "").split(" ").filter(Boolean)) if (!document.getElementById(id)) wrong.push("nobody: " + id)
    }
  }
  for (const each of document.querySelectorAll("button, a[href], input, canvas[role], [role=grid], [tabindex='0']")) {
    const label = each.getAttribute("aria-label") ?? ""
    const name = label + each.textContent + (each.labels ? [...each.labels].map((l) => l.textContent).join("") : "") + (each.title ?? "")
    if (!name.trim()) wrong.push("no name: " + each.outerHTML.slice(0, 80))
  }
  if (document.querySelectorAll("h1").length > 1) wrong.push("several h1")
  return wrong
})()`

const isFocused = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate<boolean>(`document.activeElement?.matches(${JSON.stringify(selector)})`)

describe.runIf(hasBrowser)("the page, for everybody", () => {
  let browser: Browser
  let server: FleetServer
  beforeAll(async () => {
    browser = await startBrowser()
    const fleet = new ScriptedFleet()
    const now = Date.now()
    fleet.rows = [...sampleRows(120, now), ...troubledRows(now)]
    fleet.workers = [...sampleWorkers(), silentWorker()]
    server = await serveFleet(fleet, { actions: true })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  const settled = async (page: Page): Promise<void> => {
    await page.getByText("Live", { exact: true }).waitFor()
    server.fleet.say({ kind: "fault", at: Date.now(), worker: "eu-1", fault: "pause", detail: {} })
    await page.locator("main .screen").waitFor()
  }

  it.each(screens.flatMap((hash) => (["light", "dark"] as const).map((scheme) => [hash, scheme] as const)))(
    "%s has names for all that can be used, and contrast, in %s",
    async (hash, scheme) => {
      await look(browser, `${server.url}${hash}`, { scheme }, async (page) => {
        await settled(page)
        expect(await page.evaluate(NAMELESS)).toEqual([])
        expect(await page.evaluate(FAINT)).toEqual([])
      })
    },
  )

  it.each(screens)("%s fits a window of 360 pixels", async (hash) => {
    await look(browser, `${server.url}${hash}`, { width: 360, height: 700 }, async (page) => {
      await settled(page)
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360)
    })
  })

  // Tests inspector: Everything on the page is reached by keys and named, with WCAG AA contrast, in light and dark.
  it("is used by keys alone: search, list, sandbox, screens, time, help, colours", async () => {
    await look(browser, server.url, {}, async (page) => {
      await settled(page)
      await page.keyboard.press("/")
      expect(await isFocused(page, "input[type=search]")).toBe(true)
      await page.keyboard.type("stuck-in worker:eu-1")
      await expect.poll(() => page.locator("#found").textContent()).toContain("1 of")
      await page.keyboard.press("Escape")
      for (let steps = 0; !(await isFocused(page, "[role=grid]")) && steps < 60; steps++)
        await page.keyboard.press("Tab")
      await page.keyboard.press("ArrowDown")
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { level: 1, name: "order/stuck-in-its-run" }).waitFor()
      await page.keyboard.press("g")
      await page.keyboard.press("t")
      await page.getByRole("application", { name: /Timeline/ }).waitFor()
      await page.keyboard.press("[")
      await page.getByText("Looking back").waitFor()
      await page.keyboard.press("l")
      await page.getByText("Live", { exact: true }).waitFor()
      await page.keyboard.press("g")
      await page.keyboard.press("s")
      await page.getByRole("combobox", { name: "Key" }).waitFor()
      await page.keyboard.press("?")
      const help = page.getByRole("dialog", { name: "Keys and searches" })
      await help.getByText("light, dark, or as the system has it").waitFor()
      await page.keyboard.press("Escape")
      await expect.poll(() => help.count()).toBe(0)
      await page.keyboard.press("d")
      expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("light")
      await page.keyboard.press("d")
      expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(19, 21, 24)")
      await page.keyboard.press("Escape")
      await page.getByRole("grid").waitFor()
    })
  })

  it("moves the mark of the heat map by arrows, says what is there, and opens it", async () => {
    await look(browser, server.url, {}, async (page) => {
      await settled(page)
      await page.getByRole("application", { name: /Heat map/ }).focus()
      await page.keyboard.press("ArrowRight")
      await page.keyboard.press("ArrowRight")
      const told = page.locator(".hover")
      await told.getByText(server.fleet.rows[1]!.key).waitFor()
      expect(await told.getAttribute("aria-live")).toBe("polite")
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { level: 1, name: server.fleet.rows[1]!.key }).waitFor()
    })
  })

  it("shows where the focus is, wherever it is", async () => {
    await look(browser, server.url, {}, async (page) => {
      await settled(page)
      const unseen: string[] = []
      for (let steps = 0; steps < 25; steps++) {
        await page.keyboard.press("Tab")
        // After the last one comes the window itself.
        if (await isFocused(page, "body")) continue
        const outline = await page.evaluate<string>("getComputedStyle(document.activeElement).outlineStyle")
        if (outline === "none")
          unseen.push(await page.evaluate<string>("document.activeElement.outerHTML.slice(0, 80)"))
      }
      expect(unseen).toEqual([])
    })
  })

  it("moves nothing where less motion is asked for", async () => {
    await look(browser, `${server.url}${screens[1]}`, { calm: true }, async (page) => {
      await settled(page)
      expect(await page.evaluate("document.getAnimations().length")).toBe(0)
    })
  })
})
