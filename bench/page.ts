/**
 * The live page with 10,000 and 100,000 sandboxes that change a thousand times a second: how long its frames take,
 * against those of an empty page in the same browser. The server runs in this process. Needs Chromium
 * (LEASEHOLD_CHROMIUM, or Debian's).
 */
import type { Browser } from "playwright-core"
import type { TraceLine } from "../src/trace/trace.ts"
import { startBrowser } from "../tests/browser/support/browser.ts"
import { ScriptedFleet, serveFleet } from "../tests/browser/support/fleet-server.ts"
import { sampleRows, sampleWorkers } from "../tests/browser/support/sample-fleet.ts"
import { running, settling, waiting } from "../tests/inspector/live/made.ts"
import { detail, ratio } from "./ratio.ts"

/** Changes a second. */
const RATE = 1000
/** Of those that a tick says, in milliseconds: finer than a frame. */
const TICK = 10
/** How long frames are watched, in milliseconds. */
const WATCH = 8000
/** At 60 a second a frame that is late by a half is one that was missed. */
const MISSED = 1.5

const FRAMES = `new Promise((resolve) => {
  const times = []
  const frame = (time) => {
    times.push(time)
    if (time - times[0] < ${WATCH}) requestAnimationFrame(frame)
    else resolve(times.slice(1).map((each, index) => each - times[index]))
  }
  requestAnimationFrame(frame)
})`

/** Measures. */
export async function benchPage(): Promise<void> {
  const browser = await startBrowser()
  try {
    const empty = await framesOf(browser, "about:blank")
    detail("an empty page: a frame", mean(empty), "ms")
    for (const size of [10_000, 100_000]) await benchSize(browser, size, empty)
  } finally {
    await browser.close()
  }
}

async function benchSize(browser: Browser, size: number, empty: readonly number[]): Promise<void> {
  const fleet = new ScriptedFleet()
  fleet.rows = [...sampleRows(size, Date.now())]
  fleet.workers = sampleWorkers()
  await using server = await serveFleet(fleet)
  const name = `${size.toLocaleString("en")} sandboxes`
  let said = 0
  const timer = setInterval(() => {
    for (let count = 0; count < (RATE * TICK) / 1000; count++) fleet.say(lineOf(fleet, said++))
  }, TICK)
  try {
    const frames = await framesOf(browser, server.url, `${size.toLocaleString("en")} sandboxes`)
    detail(`${name}, ${RATE} changes a second: a frame`, mean(frames), "ms")
    detail(`${name}: the longest frame of a hundred`, percentile(frames, 0.99), "ms")
    detail(
      `${name}: frames that were missed`,
      (100 * frames.filter((ms) => ms > mean(empty) * MISSED).length) / frames.length,
      "%",
    )
    ratio(`page ${name}, time of a frame to an empty page's`, mean(frames) / mean(empty), "<=", 1.1)
  } finally {
    clearInterval(timer)
  }
}

/** Its states in turn. */
function lineOf(fleet: ScriptedFleet, index: number): TraceLine {
  const { worker, key, token } = fleet.rows[(index * 7919) % fleet.rows.length]!
  const value = [running, settling, waiting][index % 3]!
  return { kind: "state", at: Date.now(), worker, key, value, token }
}

async function framesOf(browser: Browser, url: string, text?: string): Promise<readonly number[]> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  try {
    await page.goto(url)
    if (text !== undefined) await page.getByText(text).waitFor({ timeout: 60_000 })
    return await page.evaluate<number[]>(FRAMES)
  } finally {
    await page.close()
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN
