// docs/seeing-it.md on the page: its programs run, its searches can be asked, its limits are those of the code. What it
// tells to type is run by tests/integration/cli-seeing-it.test.ts.
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { inspector, nodeListener, serveInspector } from "leasehold/inspector"
import { expect, it } from "vitest"
import { SandboxManager } from "../../../src/actors/manager/manager.ts"
import {
  FLAPPING,
  LONG_ACQUIRE,
  LONG_HANDOFF,
  LONG_RESTORE,
  LONG_WAIT,
  NEAR_GUARD,
} from "../../../src/inspector/live/model/attention.ts"
import { parseSearch } from "../../../src/inspector/live/model/search.ts"
import { MOST_STREAMS } from "../../../src/inspector/live/server/handler.ts"
import { STALLED_AFTER } from "../../../src/inspector/live/stream/event-body.ts"
import { inspectorSettings, serveSettings } from "../../../src/inspector/live/workers/options.ts"
import { MOST_PEERS } from "../../../src/inspector/live/workers/peers.ts"
import { SIGNED_FOR } from "../../../src/inspector/live/workers/signature.ts"
import { memoryStore } from "../../../src/locks/stores/memory-store.ts"
import { counter } from "../../actors/world.ts"

const docsPage = readFileSync(new URL("../../../docs/seeing-it.md", import.meta.url), "utf8")
const own = readFileSync(new URL(import.meta.url), "utf8")

const startManager = (): Promise<SandboxManager> =>
  SandboxManager.start({ store: memoryStore(), sandboxes: [counter()] })

it("shows how a page is served: whoever has its address sees it", async () => {
  await using manager = await startManager()
  const log: string[] = []
  const console = { log: (text: string) => log.push(text) }
  // --- example
  await using page = await serveInspector(manager)
  console.log(page.url) // http://127.0.0.1:43121/?token=…
  // --- end
  expect((await fetch(log[0]!)).status).toBe(200)
  expect(log[0]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}$/)
})

it("shows how a page is mounted in a server, which goes on with all else", async () => {
  await using manager = await startManager()
  const log: string[] = []
  const console = { log: (text: string) => log.push(text) }
  const server = createServer()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const answer = (_request: unknown, response: { end(text: string): void }): void => response.end("its own")
  // --- example
  const page = inspector(manager)
  const look = nodeListener(page)
  server.on("request", (request, response) => {
    if (request.url?.startsWith("/_leasehold/")) look(request, response)
    else answer(request, response)
  })
  console.log(`${address}/_leasehold/?token=${page.token}`)
  // --- end
  expect((await fetch(log[0]!)).status).toBe(200)
  expect(await (await fetch(`${address}/other`)).text()).toBe("its own")
  await page[Symbol.asyncDispose]()
  server.close().closeAllConnections()
})

it("has no program but those, with the imports that they need", () => {
  const shown = Array.from(docsPage.matchAll(/^```ts\n([\s\S]*?)^```$/gm), ([, code]) => code!).filter((code) =>
    code.includes("leasehold/inspector"),
  )
  const examples = Array.from(own.matchAll(/^ {2}\/\/ --- example\n([\s\S]*?)^ {2}\/\/ --- end$/gm), ([, code]) =>
    code!.replaceAll(/^ {2}/gm, ""),
  )
  const imports = [
    'import { serveInspector } from "leasehold/inspector"',
    'import { inspector, nodeListener } from "leasehold/inspector"',
  ]
  expect(shown).toEqual(examples.map((code, index) => `${imports[index]}\n\n${code}`))
})

it("has only searches that can be asked", () => {
  const [, table = ""] = /### The search\n([\s\S]*?)\n## /.exec(docsPage) ?? []
  const searches = Array.from(table.matchAll(/`([^`…]+)`/g), ([, text]) => text!).filter(
    (text) => !/^(-|"|ms s m h d)$/.test(text),
  )
  expect(searches.length).toBeGreaterThan(10)
  expect(searches.filter((text) => "problem" in parseSearch(text))).toEqual([])
})

it("names every option, and the limits as they are", () => {
  const [, table = ""] = /(\| option {4}[\s\S]*?)\n\n/.exec(docsPage) ?? []
  const named = Array.from(table.matchAll(/^\| `(\w+)`/gm), ([, name]) => name!)
  const optionsOf = (refuse: () => unknown): string[] => {
    try {
      refuse()
    } catch (error) {
      return (error as { next: string }).next.replace("Use some of ", "").split(", ")
    }
    return []
  }
  const known = optionsOf(() => serveSettings({ none: 1 } as never))
  expect(named.sort()).toEqual(known.sort())
  expect(optionsOf(() => inspectorSettings({ none: 1 } as never)).length).toBe(known.length - 2)
  const limits: readonly (readonly [number, RegExp])[] = [
    [LONG_HANDOFF / 1000, /it is leaving +\| (\d+) s/],
    [LONG_RESTORE / 1000, /it is being restored +\| (\d+) s/],
    [LONG_WAIT / 1000, /it waits for another's +\| (\d+) s/],
    [LONG_ACQUIRE / 1000, /it asks the store +\| (\d+) s/],
    [FLAPPING, /changes hands again and again +\| (\d+) times/],
    [MOST_STREAMS, /(\d+) viewers at once/],
    [MOST_PEERS, /(\d+) workers that are asked/],
    [STALLED_AFTER / 1000, /takes nothing for (\d+) s/],
  ]
  expect(limits.map(([, pattern]) => Number(pattern.exec(docsPage)?.[1]))).toEqual(limits.map(([limit]) => limit))
  expect([NEAR_GUARD, SIGNED_FOR]).toEqual([0.1, 60_000]) // "a tenth", "a minute"
})
