import { describe, expect, it } from "vitest"
import { Commits } from "../../src/actors/commits.ts"
import { VirtualTime } from "../../src/runtime/virtual-time.ts"
import { gate } from "./world.ts"

/** Commits whose writes the test settles. */
const scripted = () => {
  let value = 0
  const taken: string[] = []
  const writes: PromiseWithResolvers<void>[] = []
  const commits = new Commits<number>({
    take: async (begun) => {
      const reason = begun()
      taken.push(`${reason} ${value}`)
      return value
    },
    write: () => {
      const write = gate()
      writes.push(write)
      return write.promise
    },
  })
  const change = (): number => ++value
  return { commits, taken, writes, change }
}
/** Past all promise work of the moment. */
const soon = (): Promise<void> => new VirtualTime().advance(0)

describe("group commit", () => {
  it("answers a request by the first checkpoint that is taken after it, and shares that", async () => {
    const { commits, taken, writes, change } = scripted()
    change()
    const first = commits.request("durable")
    await soon()
    change()
    const second = commits.request("durable")
    change()
    const third = commits.request("manual")
    expect(taken).toEqual(["durable 1"])
    writes[0]!.resolve()
    await first
    await soon()
    expect(taken).toEqual(["durable 1", "durable 3"])
    writes[1]!.resolve()
    await Promise.all([second, third])
    expect(writes).toHaveLength(2)
  })

  it("fails only those that shared the write that failed", async () => {
    const { commits, writes } = scripted()
    const broken = new Error("as scripted")
    const first = commits.request("durable")
    await soon()
    const second = commits.request("durable")
    writes[0]!.reject(broken)
    await expect(first).rejects.toBe(broken)
    await soon()
    writes[1]!.resolve()
    await second
  })

  it("takes the last one for the handoff, whoever asked before", async () => {
    const { commits, taken, writes } = scripted()
    void commits.request("durable")
    await soon()
    const waiting = commits.request("periodic")
    const last = commits.request("handoff")
    writes[0]!.resolve()
    await soon()
    await soon()
    writes[1]!.resolve()
    await Promise.all([waiting, last])
    expect(taken).toEqual(["durable 0", "handoff 0"])
  })

  it("once closed rejects everything that isn't acknowledged, now and later, and takes no more", async () => {
    const { commits, taken } = scripted()
    const closed = new Error("closed")
    const first = commits.request("durable")
    await soon()
    const second = commits.request("durable")
    commits.close(closed)
    await expect(first).rejects.toBe(closed)
    await expect(second).rejects.toBe(closed)
    await expect(commits.request("manual")).rejects.toBe(closed)
    expect(taken).toEqual(["durable 0"])
  })
})
