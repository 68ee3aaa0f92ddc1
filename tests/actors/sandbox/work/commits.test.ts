import { describe, expect, it } from "vitest"
import { Commits } from "../../../../src/actors/sandbox/work/commits.ts"
import { VirtualTime } from "../../../../src/runtime/time/virtual-time.ts"
import { gate } from "../../world.ts"

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

  // Tests chart: A caller is answered only by a checkpoint that was begun after the call.
  it("isn't joined once its taking has begun, however long that goes on: what was done since is in the next one", async () => {
    let value = 1
    const taking = gate()
    const written: number[] = []
    const commits = new Commits<number>({
      take: async (begun) => {
        begun()
        const seen = value
        await taking.promise
        return seen
      },
      write: async (saved) => void written.push(saved),
    })
    const first = commits.request("durable")
    value = 2
    const second = commits.request("manual").then(() => expect(written).toContain(2))
    taking.resolve()
    await Promise.all([first, second])
    expect(written).toEqual([1, 2])
  })

  it("whose taking was given up fails all who wait, and all who come before that has ended", async () => {
    const given = new Error("given up")
    const hindrances: Error[] = []
    const taking = gate()
    const commits = new Commits<number>({
      take: async (begun) => {
        begun()
        await taking.promise
        return 1
      },
      write: async () => {},
      hindrance: () => hindrances[0],
    })
    const first = commits.request("durable")
    const second = commits.request("manual")
    hindrances.push(given)
    taking.reject(given)
    await expect(first).rejects.toBe(given)
    await expect(second).rejects.toBe(given)
    await expect(commits.request("manual")).rejects.toBe(given)
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
