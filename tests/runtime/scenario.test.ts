import { readFile } from "node:fs/promises"
import { expect, it } from "vitest"
import { traceHash } from "../../src/runtime/time/hash.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"
import { runScenario, type Trace } from "./scenario.ts"

// Of both runtimes: this suite runs on Node and on Deno against the one value.
const expectedHash = "57d294e12d930d612f3c53cc6fea152ca282bb57524a71896bebdd3ff2addc50"

// Tests leftovers: One scenario of chart, Effect and RxJS has one trace, in 1,000 runs and on both runtimes.
it("a chart's after, an Effect's retry and an RxJS interval interleave to one committed trace in 1,000 runs", async () => {
  const hashes = new Set<string>()
  for (let run = 0; run < 1000; run++) hashes.add(traceHash(await runScenario(new VirtualTime({ seed: 7 }))))
  expect([...hashes]).toEqual([expectedHash])
})

it("what else the real event loop does meanwhile changes nothing of it", async () => {
  let noisy = true
  const noise = (): void => void (noisy && setImmediate(() => void readFile(new URL(import.meta.url)).then(noise)))
  for (let source = 0; source < 20; source++) noise()
  const trace = await runScenario(new VirtualTime({ seed: 7 }))
  noisy = false
  expect(traceHash(trace)).toBe(expectedHash)
})

it("the scenario is one in which all of them wait, and meet at the same instants", async () => {
  const trace = await runScenario(new VirtualTime({ seed: 7 }))
  const at = (mono: number): string[] => trace.filter(([time]) => time === mono).map(([, who]) => who)
  expect(at(300)).toEqual(["chart", "effect", "rx", "rx promise", "rx soon"])
  expect(at(1500)).toEqual(["effect", "effect settled", "effect", "effect", "chart", "rx", "rx promise", "rx soon"])
  expect(at(1600)).toContain("schedule")
  expect(trace.filter(([, who]) => who === "effect gave up")).toHaveLength(1)
})

it("another seed gives another trace, and leaves no timer behind", async () => {
  const times = [new VirtualTime({ seed: 7 }), new VirtualTime({ seed: 8 })]
  const traces: Trace[] = []
  for (const time of times) traces.push(await runScenario(time))
  expect(traceHash(traces[0]!)).not.toBe(traceHash(traces[1]!))
  expect(times.map((time) => time.pendingTimers)).toEqual([0, 0])
})
