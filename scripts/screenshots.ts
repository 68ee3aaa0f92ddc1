/**
 * `npm run screenshots`: pictures of each screen of the live page, light and dark, for the pages in docs. The fleet on
 * them is made up, and the recorded run is a simulated one. Needs Chromium (LEASEHOLD_CHROMIUM, or Debian's).
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Browser, Page } from "playwright-core"
import { timelineHtml } from "../src/inspector/timeline.ts"
import { startBrowser } from "../tests/browser/support/browser.ts"
import { ScriptedFleet, serveFleet } from "../tests/browser/support/fleet-server.ts"
import { sampleRows, sampleWorkers, troubledRows } from "../tests/browser/support/sample-fleet.ts"
import { running, settling, waiting } from "../tests/inspector/live/made.ts"
import { recorded } from "../tests/inspector/scenario.ts"

const folder = fileURLToPath(new URL("../docs/images/", import.meta.url))
const temporary = mkdtempSync(join(tmpdir(), "leasehold-screenshots-"))

/** Less than a lease has left, so that none runs out on the picture. */
const TREND_SECONDS = 9

interface Shot {
  readonly name: string
  readonly url: string
  readonly width?: number
  readonly height?: number
  readonly ready: (page: Page) => Promise<unknown>
}

const SCHEMES = ["light", "dark"] as const

async function shoot(
  browser: Browser,
  shot: Shot,
  schemes: readonly (typeof SCHEMES)[number][] = SCHEMES,
): Promise<void> {
  const { name, url, width = 1280, height = 800, ready } = shot
  for (const scheme of schemes) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme, reducedMotion: "reduce" })
    await page.goto(url)
    await ready(page)
    await page.screenshot({ path: join(folder, `${name}-${scheme}.png`) })
    await page.close()
  }
}

function sampleFleet(): ScriptedFleet {
  const fleet = new ScriptedFleet()
  const now = Date.now()
  fleet.rows = [...sampleRows(900, now), ...troubledRows(now)]
  fleet.workers = sampleWorkers()
  fleet.record = {
    ...{ ownerId: "eu-11", address: null, token: 7, expiresAt: now + 24_000, waiterId: "eu-21", line: [] },
    ...{ generation: "1795979659023114", at: now },
  }
  return fleet
}

/** Some sandboxes come and go meanwhile. */
async function settled(page: Page, fleet: ScriptedFleet): Promise<void> {
  await page.getByText("Live", { exact: true }).waitFor()
  for (let second = 0; second < TREND_SECONDS; second++) {
    const moved = fleet.rows.slice(40 * second, 40 * second + 8 + 5 * (second % 4))
    const value = [waiting, running, settling][second % 3]!
    for (const { worker, key, token } of moved)
      fleet.say({
        kind: "state",
        at: Date.now(),
        worker,
        key,
        value,
        token,
        ...(value === settling && { leaving: "handoff" }),
      })
    await page.waitForTimeout(1000)
  }
}

async function shootLive(
  browser: Browser,
  name: string,
  hash: string,
  size: { width?: number; height?: number },
): Promise<void> {
  for (const scheme of SCHEMES) {
    const fleet = sampleFleet()
    await using server = await serveFleet(fleet, { actions: true })
    const shot: Shot = { name, url: `${server.url}${hash}`, ...size, ready: (page) => settled(page, fleet) }
    await shoot(browser, shot, [scheme])
  }
}

async function shootRecorded(browser: Browser): Promise<void> {
  const run = join(temporary, "run.html")
  writeFileSync(run, timelineHtml(await recorded(7)))
  const url = pathToFileURL(run).href
  const paused = async (page: Page): Promise<void> => {
    const moment = page.getByRole("slider", { name: "Moment" })
    await moment.fill("1800")
    await moment.blur()
  }
  await shoot(browser, { name: "sandbox-differs", url: `${url}#/sandbox/b/counter%2Fk`, ready: paused })
  await shoot(browser, { name: "timeline", url: `${url}#/timeline`, height: 560, ready: paused })
  const handoff = (page: Page): Promise<void> => page.getByText("handed over from").scrollIntoViewIfNeeded()
  await shoot(browser, { name: "sequence", url: `${url}#/sequence/counter%2Fk`, ready: handoff })
}

async function main(): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const browser = await startBrowser()
  try {
    await shootLive(browser, "fleet", "", {})
    await shootLive(browser, "fleet-narrow", "", { width: 360, height: 760 })
    await shootLive(browser, "sandbox", "#/sandbox/eu-1/order%2Fstuck-in-its-run", { height: 900 })
    await shootRecorded(browser)
  } finally {
    await browser.close()
    rmSync(temporary, { recursive: true })
  }
}

await main()
