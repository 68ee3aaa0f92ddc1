// When the definition's code may begin: judged by signals that are right by time.
import { describe, expect, it } from "vitest"
import { HookRuns } from "../../../../src/actors/sandbox/work/hook-runs.ts"
import { Fibers } from "../../../../src/runtime/bridges/fibers.ts"
import { latchedAbort } from "../../../../src/runtime/latch-signal.ts"
import { VirtualTime } from "../../../../src/runtime/time/virtual-time.ts"

describe("a hook", () => {
  it("doesn't begin where its lease is found to be over after it was first looked at, as in a process that was stopped", () => {
    const time = new VirtualTime()
    const begun: string[] = []
    const owner = {
      ...{ isLost: () => true, onOverrun: () => {}, onEnd: () => {} },
      onBegin: () => void begun.push("told"),
    }
    const hooks = new HookRuns("k", new Fibers(time, () => {}), time, owner)
    let looks = 0
    const lease = latchedAbort(() => {
      if (++looks === 2) lease.abort(new Error("the lease is over"))
    })
    const start = () => hooks.start({ hook: "checkpoint", under: [lease.signal] }, async () => begun.push("begun"))
    expect(start).toThrow("the lease is over")
    expect(begun).toEqual([])
  })
})
