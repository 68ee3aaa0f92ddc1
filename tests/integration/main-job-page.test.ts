// The page of the main job, as whoever opens the address that it prints sees it: two real processes through one of
// them.
import { expect, it } from "vitest"
import { Fleet } from "../../src/inspector/live/model/fleet.ts"
import type { Lines, WireMessages } from "../../src/inspector/live/model/wire.ts"
import { EventReader } from "../../src/inspector/live/stream/sse.ts"
import { startMainJob } from "./support/main-job.ts"

it("shows both workers, the handoff and the takeover as they happen", async () => {
  const job = startMainJob()
  const address = new URL(await job.printed(/The fleet as it happens: (\S+)/))
  const page = await fetch(address)
  expect([page.status, await page.text()]).toEqual([200, expect.stringMatching(/^<!doctype html>/i)])

  const token = address.searchParams.get("token")
  const answer = await fetch(new URL("./events", address), { headers: { authorization: `Bearer ${token}` } })
  const fleet = new Fleet()
  const reader = new EventReader(1e9)
  const seen: string[] = []
  // Until the worker that serves it has drained.
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    for (const { event, data } of reader.push(chunk)) {
      const message = JSON.parse(data) as never
      fleet.apply(event as keyof WireMessages, message)
      if (event !== "lines") continue
      for (const line of (message as Lines).lines) {
        if (line.kind === "lock" && line.type === "Acquired") seen.push(`${line.worker} ${line.how}`)
      }
    }
  }
  const { code, stdout } = await job.ended
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("main job: ") })
  expect(stdout.split(token!)).toHaveLength(2) // it is told once, and stands in nothing else
  expect(seen.filter((each) => each !== "A created")).toEqual(["B granted", "A takeover"])
  expect([...fleet.workers.keys()].sort()).toEqual(["A", "B"])
  expect(fleet.workers.get("B")?.problem).toMatch(/nobody listens there|reached/)
})
