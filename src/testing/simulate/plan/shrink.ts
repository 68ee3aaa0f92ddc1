/**
 * Fewer and smaller faults that still fail, found with fast-check within a time. What is left is not the least there
 * is: it is what was found by then.
 *
 * fast-check is loaded when something has failed, and is needed for this alone: without it the list stays as it was
 * drawn.
 */
import type { Arbitrary as ArbitraryType } from "fast-check"
import { type Clock, liveClock } from "../../../runtime/time/clock.ts"
import type { TimedFault } from "./plan.ts"

/** A list of faults for which `fails` is still true; no try begins later than `forMs` of real time. */
export async function shrink(
  faults: readonly TimedFault[],
  fails: (faults: readonly TimedFault[]) => Promise<boolean>,
  forMs: number,
  clock: Pick<Clock, "mono"> = liveClock,
): Promise<readonly TimedFault[]> {
  const check = await import("fast-check").catch(() => undefined)
  if (check === undefined || faults.length === 0) return faults
  const { Arbitrary, Stream, Value } = check
  const until = clock.mono() + forMs

  class OneFault extends Arbitrary<TimedFault> {
    generate() {
      return new Value(faults[0]!, undefined)
    }
    canShrinkWithoutContext(value: unknown): value is TimedFault {
      return typeof value === "object"
    }
    shrink(fault: TimedFault) {
      return Stream.of(...smaller(fault).map((each) => new Value(each, undefined)))
    }
  }
  const list: ArbitraryType<TimedFault[]> = check.array(new OneFault(), { maxLength: faults.length })
  const stillFails = check.asyncProperty(list, async (some) => clock.mono() > until || !(await fails(inOrder(some))))
  const { counterexample } = await check.check(stillFails, { examples: [[[...faults]]], numRuns: 1 })
  return inOrder(counterexample?.[0] ?? faults)
}

const inOrder = (faults: readonly TimedFault[]): readonly TimedFault[] => faults.toSorted((a, b) => a.at - b.at)

/** The same fault, with less of it. */
function smaller(fault: TimedFault): TimedFault[] {
  const { on, ...atOnce } = fault
  const simpler: TimedFault[] = on === undefined ? [] : [atOnce]
  if ("wall" in fault && fault.wall !== 0) simpler.push({ ...fault, wall: 0 })
  if ("ms" in fault && Math.abs(fault.ms) > 1000) simpler.push({ ...fault, ms: Math.trunc(fault.ms / 2) })
  if (fault.at % 1000 > 0) simpler.push({ ...fault, at: Math.floor(fault.at / 1000) * 1000 })
  return simpler
}
