// The page of `npm start` in a real browser, at the address that it prints: both workers, the handoff as it happens,
// and what the page keeps of the takeover once the worker that served it has gone. The workers go at their own speed.
// Their driver waits twice for the page: the whole job is over sooner than some browsers open a page.
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningMainJob, startMainJob } from "../integration/support/main-job.ts"
import { hasBrowser, look, startBrowser } from "./support/browser.ts"

/** Once the worker has gone, the page asks in vain. */
const GONE = /Failed to load|ERR_/

describe.runIf(hasBrowser)("the main job", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())

  it("is seen as it happens: A owns, hands over to B, and takes over when B is killed", async () => {
    const job = startMainJob()
    const key = await job.printed(/the database (\S+) in/)
    const url = await job.printed(/The fleet as it happens: (\S+)/)
    using beginning = job.held()
    await look(browser, url, { expected: GONE }, async (page) => {
      await page.getByText("Live", { exact: true }).waitFor()
      for (const name of ["A", "B"]) await workers(page).getByRole("button", { name, exact: true }).waitFor()
      beginning[Symbol.dispose]()
      await handedOver(page, job)

      const { code, stdout } = await job.ended
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("main job: ") })
      await page.getByText("Reconnecting", { exact: true }).waitFor()
      await row(page, "A").getByText("released · clean").waitFor()
      await workers(page)
        .getByText(/nobody listens there|reached/)
        .waitFor()
      expect(await handoffs(page, key)).toEqual(["handed over from A to B", "taken over from B to A"])
    })
  })
})

const workers = (page: Page) => page.getByRole("region", { name: /^Workers/ })

const row = (page: Page, worker: string) =>
  page
    .locator(".rows .row:not([hidden])")
    .filter({ has: page.locator(".worker", { hasText: new RegExp(`^${worker}$`) }) })

/** B has been asked for the database; A and B need nobody else to hand it over, and B keeps it until it is killed. */
async function handedOver(page: Page, job: RunningMainJob): Promise<void> {
  await job.printed(/(waits for A to hand it over)/)
  using _ = job.held()
  await row(page, "A").getByText("released · handed off").waitFor()
  await row(page, "B").getByText("owning · running").waitFor()
}

/** What the sequence of a key says of its changes of hands, in order. */
async function handoffs(page: Page, key: string): Promise<readonly string[]> {
  await page.getByRole("link", { name: "Sequence" }).click()
  await page.getByRole("combobox", { name: "Key" }).fill(key)
  await page.keyboard.press("Enter")
  const more = page.getByRole("button", { name: /^Show \d+ more$/ })
  const items = page.getByRole("list", { name: "Sequence" }).getByRole("listitem")
  await items.first().waitFor()
  while (await more.isVisible()) await more.click()
  const texts = await items.allTextContents()
  return texts.flatMap((text) => /(?:handed|taken) over from \S+ to \S+/.exec(text.replaceAll(/\s+/g, " ")) ?? [])
}
