// Two real worker processes on one directory, seen in the page of one: a handoff as it happens, an action, and a
// restart.
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface, type Interface } from "node:readline"
import type { Browser } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { type Spawned, spawnScript } from "../integration/support/spawn.ts"
import { hasBrowser, look, seen, startBrowser } from "./support/browser.ts"

const TOKEN = "a-token-that-outlives-a-restart"
const SECRET = "a-secret-that-both-workers-share"
const runtime = "Deno" in globalThis ? "deno" : "node"

interface Worker {
  readonly url: string
  readonly address: string
  readonly spawned: Spawned
  readonly lines: Interface
}

async function startWorker(name: string, directory: string, port: number, peers: readonly string[]): Promise<Worker> {
  const spawned = spawnScript({
    runtime,
    script: new URL("support/live-worker.ts", import.meta.url),
    args: [name, directory, String(port), TOKEN, ...peers],
    env: { LEASEHOLD_SECRET: SECRET },
  })
  const lines = createInterface({ input: spawned.child.stdout! })
  const told = await Promise.race([once(lines, "line"), spawned.ended])
  if (!Array.isArray(told)) throw new Error(`the worker ended: ${told.stderr}`)
  return { ...(JSON.parse(String(told[0])) as { url: string; address: string }), spawned, lines }
}

async function kill({ spawned }: Worker): Promise<void> {
  spawned.signal("SIGKILL")
  await spawned.ended
}

/** The sandbox is this worker's. */
async function own(worker: Worker, key: string): Promise<void> {
  worker.spawned.child.stdin!.write(`own ${key}\n`)
  const [line] = (await once(worker.lines, "line")) as [string]
  expect(JSON.parse(line)).toEqual({ owns: key })
}

describe.runIf(hasBrowser)("two workers", () => {
  let browser: Browser
  let directory: string
  let [a, b]: [Worker | undefined, Worker | undefined] = [undefined, undefined]
  beforeAll(async () => {
    browser = await startBrowser()
  })
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "leasehold-live-"))
    a = await startWorker("a", directory, 0, [])
    b = await startWorker("b", directory, 0, [a.address])
    await own(a, "k")
  })
  afterEach(async () => {
    for (const worker of [a, b]) if (worker !== undefined) await kill(worker)
    rmSync(directory, { recursive: true, force: true })
  })
  afterAll(() => browser?.close())

  // Tests inspector: The page shows what happens as it happens: a handoff between two processes among them.
  it("are seen in the page of one, and the handoff between them as it happens", async () => {
    await look(browser, b!.url, {}, async (page) => {
      const rowOf = (name: string) =>
        page
          .locator(".rows .row:not([hidden])")
          .filter({ has: page.locator(".worker", { hasText: new RegExp(`^${name}$`) }) })
      await rowOf("a").getByText("owning · running").waitFor()
      await page
        .getByRole("region", { name: /^Workers/ })
        .getByRole("button", { name: "b" })
        .waitFor()
      await own(b!, "k")
      await rowOf("b").getByText("owning · running").waitFor()
      await rowOf("a").getByText("released · handed off").waitFor()
      await rowOf("b").click()
      await page.getByText("They agree where both know.").waitFor()
      await page.getByRole("link", { name: "All of it as a sequence" }).click()
      expect(await seen(page.getByRole("list", { name: "Sequence" }).getByText("handed over from"))).toBe(true)
    })
  })

  it("do what is asked of one in the page of the other", async () => {
    await look(browser, b!.url, {}, async (page) => {
      await page.locator(".rows .row", { hasText: "owning · running" }).click()
      await page.getByRole("button", { name: "Hand it off" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Hand it off" }).click()
      expect(await seen(page.locator(".chip.released"))).toBe(true)
    })
  })

  it("are seen again after one was started anew", async () => {
    const port = Number(new URL(b!.url).port)
    await look(browser, b!.url, { expected: /Failed to load|ERR_/ }, async (page) => {
      await page.locator(".rows .row", { hasText: "owning · running" }).waitFor()
      await kill(b!)
      await page.getByText("Reconnecting").waitFor()
      b = await startWorker("b", directory, port, [a!.address])
      await page.getByText("Live", { exact: true }).waitFor()
      await own(b, "after")
      await page.getByRole("grid").getByText("counter/after").waitFor()
      expect(await seen(page.getByRole("grid").getByText("counter/k"))).toBe(true)
    })
  })
})
