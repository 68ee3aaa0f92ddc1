/** What a signal does to a run, from its beginning to its end. */
import process from "node:process"
import { describe, expect, it } from "vitest"
import { RunSignals } from "../../src/cli/run/process/signals.ts"

/** Those that this process itself has no use for. */
const [asks, tells] = ["SIGHUP", "SIGUSR2"] as const

describe("the signals of a run", () => {
  // Tests command: No signal ends a run that holds a lease.
  it("cancel it until there is a command to pass them to, and are heard to the end", () => {
    const before = process.listenerCount(asks)
    const passed: string[] = []
    {
      using signals = new RunSignals()
      process.emit(tells, tells)
      expect(signals.cancelled.aborted).toBe(false)
      process.emit(asks, asks)
      expect(signals.cancelled.aborted).toBe(true)
      signals.passTo((signal) => void passed.push(signal))
      process.emit(tells, tells)
      process.emit(asks, asks)
      signals.passTo(() => {})
      process.emit(asks, asks)
      expect(process.listenerCount(asks)).toBe(before + 1)
    }
    expect(passed).toEqual([tells, asks])
    expect(process.listenerCount(asks)).toBe(before)
  })
})
