// Chromium for tests: where it is, and pages of it that are watched. Whatever a page asks for, logs as an error, or
// does against its policy is kept, and `look` fails for it when the test is over.
import { accessSync, constants } from "node:fs"
import process from "node:process"
import { type Browser, chromium, type Locator, type Page } from "playwright-core"
import { expect } from "vitest"

/** Where Debian has it, unless told. */
const PATH = process.env["LEASEHOLD_CHROMIUM"] ?? "/usr/bin/chromium"

const isThere = (): boolean => {
  try {
    accessSync(PATH, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Where a developer has none the tests are skipped; scripts/ensure-browser.sh has said so. In CI they fail. */
export const hasBrowser: boolean = isThere() || process.env["CI"] !== undefined

/** A browser that was started. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: PATH, args: ["--no-sandbox", "--force-color-profile=srgb"] })

/** How a page is looked at. */
export interface Look {
  readonly width?: number
  readonly height?: number
  readonly scheme?: "light" | "dark"
  readonly calm?: boolean
  /** Console errors and addresses that this test brings about. */
  readonly expected?: RegExp
}

/** In milliseconds, for what the page has to come to. It is a guard against hangs alone. */
const PATIENCE = 120_000

const WATCH = `
  window.__violations = []
  document.addEventListener("securitypolicyviolation", (event) => window.__violations.push(event.violatedDirective + " " + event.blockedURI))
`

/** Opens a page, lets the test look at it, and fails for what it did that it may not. */
export async function look(
  browser: Browser,
  url: string,
  how: Look,
  test: (page: Page) => Promise<void>,
): Promise<void> {
  const { width = 1280, height = 800, scheme = "light", calm = false, expected = /^$/ } = how
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: calm ? "reduce" : "no-preference",
  })
  const wrong: string[] = []
  const own = new URL(url)
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE)
    await page.addInitScript(WATCH)
    page.on("console", (message) => {
      if (message.type() === "error" && !expected.test(message.text())) wrong.push(`console: ${message.text()}`)
    })
    page.on("pageerror", (error) => wrong.push(`error: ${error.message}`))
    context.on("request", (request) => {
      const asked = new URL(request.url())
      if (asked.protocol !== "data:" && asked.host !== own.host) wrong.push(`request: ${request.url()}`)
    })
    await page.goto(url)
    await test(page).catch((error: unknown) => {
      throw wrong.length === 0 ? error : new Error(`After ${wrong.join("; ")}`, { cause: error })
    })
    wrong.push(...(await page.evaluate<string[]>("window.__violations")))
  } finally {
    await context.close()
  }
  expect(wrong).toEqual([])
}

/** Waits until something is there to be seen, and says whether it is. */
export async function seen(locator: Locator): Promise<boolean> {
  await locator.waitFor()
  return locator.isVisible()
}
