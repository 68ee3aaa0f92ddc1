/**
 * What a simulated machine tells of its processes: of none that lives, or that is another machine's or boot's, that it
 * has ended.
 */
import { describe, expect, it } from "vitest"
import { VirtualTime } from "../../../../src/runtime/time/virtual-time.ts"
import { Machine } from "../../../../src/testing/simulate/machines/machine.ts"

const soon = (wake: () => void): void => wake()
const runs = (machine: Machine, bootId = machine.boot) => {
  const told: string[] = []
  const { oracle, ended } = machine.runs({ bootId, soon }, () => told.push("gone"))
  return { oracle: oracle!, self: oracle!.self!, ended, told }
}

describe("a simulated machine", () => {
  const time = new VirtualTime({ seed: 1 })

  // Tests simulations: Simulated workers may know only the last release's record; machines tell ended processes truly.
  it("tells of a process that it has ended, from its end on, to all but itself", () => {
    const machine = new Machine("m1", time)
    const [one, other] = [runs(machine), runs(machine)]
    expect(other.oracle.livenessOf(one.self)).toBeUndefined()
    one.ended()
    expect(other.oracle.livenessOf(one.self)).toBe("gone")
    expect(other.told).toEqual(["gone"])
    expect(one.oracle.livenessOf(one.self)).toBeUndefined()
  })

  it("tells nothing of another machine's, nor of one with the same number in another boot", () => {
    const [machine, elsewhere] = [new Machine("m1", time), new Machine("m2", time)]
    const [one, stranger] = [runs(machine), runs(elsewhere)]
    stranger.ended()
    one.ended()
    expect(runs(machine).oracle.livenessOf(stranger.self)).toBeUndefined()
    machine.reboot(0)
    const [again, looker] = [runs(machine), runs(machine)]
    expect(again.self.pid).toBe(one.self.pid)
    expect(looker.oracle.livenessOf(one.self)).toBeUndefined()
    expect(looker.oracle.livenessOf(again.self)).toBeUndefined()
    one.ended()
    expect(looker.oracle.livenessOf(again.self)).toBeUndefined()
  })

  it("wakes who watches a process soon after its end, mostly", () => {
    const machine = new Machine("m1", time)
    const looker = runs(machine)
    let woken = 0
    for (let one = 0; one < 100; one++) {
      const process = runs(machine)
      looker.oracle.watch(process.self, () => woken++)
      looker.oracle.watch(process.self, () => woken++)[Symbol.dispose]()
      process.ended()
      process.ended()
    }
    expect(woken).toBeGreaterThan(50)
    expect(woken).toBeLessThan(100)
  })

  it("has no oracle for a process whose boot can't be named", () => {
    expect(new Machine("m1", time).runs({ bootId: undefined, soon }, () => {}).oracle).toBeUndefined()
  })
})
