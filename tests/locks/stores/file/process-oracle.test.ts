/** The conditions under which a process that a record names is known to have ended, each of them needed. */
import { describe, expect, it, onTestFinished } from "vitest"
import type { HostHalf } from "../../../../src/locks/record.ts"
import { MachineProcesses } from "../../../../src/locks/stores/file/process-oracle.ts"
import type { ProcessName } from "../../../../src/runtime/machine/processes.ts"
import { FakeProc } from "../../../support/fake-proc.ts"

/** A machine on which process 42 has ended, 43 lives, and the groups 50 and 51 have and haven't. */
function machine(...of: ConstructorParameters<typeof FakeProc>): {
  oracle: MachineProcesses
  dead: HostHalf
  self: ProcessName
} {
  const proc = new FakeProc(...of)
  onTestFinished(() => proc[Symbol.dispose]())
  proc.signals.set(42, "ESRCH")
  proc.add(43)
  proc.signals.set(-50, "ESRCH")
  proc.add(51)
  const known = proc.processes()
  const { name } = known.self
  const dead: HostHalf = { name, pid: 42, startedAt: "5000", bootId: "boot", pidNs: "77", groups: [] }
  return { oracle: new MachineProcesses("boot", known), dead, self: known.self }
}

describe("a process that a record names", () => {
  // Tests stores: A named process has ended only where every condition of the file store holds; each is needed.
  it("is gone where host, boot, pid namespace and start are known on both sides, and it has ended", () => {
    const { oracle, dead } = machine()
    expect(oracle.livenessOf(dead)).toBe("gone")
    expect(oracle.livenessOf({ ...dead, groups: [50] })).toBe("gone")
    expect(oracle.livenessOf({ ...dead, bootId: "boot~3" })).toBe("gone") // another clock of that boot
  })

  it.each<readonly [string, Partial<HostHalf>]>([
    ["of another host", { name: "elsewhere" }],
    ["of an unknown host", { name: "" }],
    ["of another boot", { bootId: "boot-2" }],
    ["of no boot", { bootId: null }],
    ["of another pid namespace", { pidNs: "78" }],
    ["of an unknown pid namespace", { pidNs: null }],
    ["whose start is unknown", { startedAt: null }],
    ["whose start is no text", { startedAt: 5000 as unknown as string }],
    ["of no pid", { pid: 0 }],
    ["of pid 1", { pid: 1 }],
    ["of a pid that is none", { pid: "42" as unknown as number }],
  ])("%s is not known to be gone", (_, change) => {
    const { oracle, dead } = machine()
    expect(oracle.livenessOf({ ...dead, ...change })).toBeUndefined()
  })

  it("is alive where it is shown to live under that start, and nothing more than not known where another has its pid", () => {
    const { oracle, dead } = machine()
    expect(oracle.livenessOf({ ...dead, pid: 43 })).toBe("alive")
    expect(oracle.livenessOf({ ...dead, pid: 43, startedAt: "4999" })).toBeUndefined()
    expect(oracle.livenessOf({ ...dead, pid: 43, pidNs: "78" })).toBeUndefined()
  })

  it("is alive where it is this very process", () => {
    const { oracle, dead, self } = machine()
    expect(oracle.livenessOf({ ...dead, ...self })).toBe("alive")
  })

  it("is at work while a group that it named lives, itself alive or not", () => {
    const { oracle, dead } = machine()
    expect(oracle.livenessOf({ ...dead, groups: [50, 51] })).toBe("working")
    expect(oracle.livenessOf({ ...dead, pid: 43, groups: [51] })).toBe("working")
    expect(oracle.livenessOf({ ...dead, name: "renamed", groups: [51] })).toBe("working")
  })

  it("is no more than alive while its lease stands, unless it is this very process, or has ended", () => {
    const { oracle, dead, self } = machine()
    expect(oracle.livenessOf({ ...dead, pid: 43, groups: [51] }, true)).toBe("alive")
    expect(oracle.livenessOf({ ...dead, ...self, groups: [51] }, true)).toBe("working")
    expect(oracle.livenessOf({ ...dead, groups: [51] }, true)).toBe("working")
    expect(oracle.livenessOf({ ...dead, groups: [50] }, true)).toBe("gone")
  })

  it("is at work where its groups can't be looked for, and may be here", () => {
    const { oracle, dead } = machine()
    expect(oracle.livenessOf({ ...dead, pidNs: null, groups: [50] })).toBe("working")
    expect(oracle.livenessOf({ ...dead, groups: ["x" as unknown as number] })).toBe("working")
    const blind = machine("77", 4711)
    expect(blind.oracle.livenessOf({ ...blind.dead, groups: [50] })).toBe("working")
    expect(blind.oracle.livenessOf(blind.dead)).toBeUndefined()
  })

  it("of another namespace or boot is left to its lease, groups and all", () => {
    const { oracle, dead } = machine()
    expect(oracle.livenessOf({ ...dead, pidNs: "78", groups: [51] })).toBeUndefined()
    expect(oracle.livenessOf({ ...dead, bootId: "boot-2", groups: [51] })).toBeUndefined()
  })

  it("has no groups where what is written there is no list", () => {
    const { oracle, dead } = machine()
    expect(oracle.livenessOf({ ...dead, groups: 51 as unknown as number[] })).toBe("gone")
    expect(oracle.livenessOf({ ...dead, groups: undefined as unknown as number[] })).toBe("gone")
  })
})
