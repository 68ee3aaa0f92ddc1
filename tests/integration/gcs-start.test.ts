// How many requests a start costs on the real server, and which of them write: counted by a proxy before it.
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { gcsStore } from "../../src/locks/stores/gcs/mod.ts"
import { SandboxManager, StoreLock } from "../../src/mod.ts"
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy/proxy.ts"
import { says, Shell } from "./support/command.ts"
import { type GcsTarget, gcsTarget } from "./support/gcs-target.ts"
import type { Runtime } from "./support/spawn.ts"

const onEmulator = gcsTarget().endpoint !== undefined

let proxy: FaultProxy
let place: GcsTarget

// The proxy speaks no TLS, as a real bucket does.
describe.skipIf(!onEmulator)("a start on a bucket", () => {
  beforeEach(async () => {
    const target = gcsTarget()
    proxy = await startFaultProxy({ target: target.endpoint ?? "" })
    place = { ...target, endpoint: proxy.url }
  })

  afterEach(() => proxy[Symbol.asyncDispose]())

  /** What was written since the last `forget`, by its area. */
  const written = (): string[] =>
    proxy.seen.filter(({ method }) => method !== "GET").map(({ object }) => object.slice(place.prefix.length + 1))

  /** A process that takes a key and gives it back. */
  async function lockOnce(key: string): Promise<void> {
    proxy.forget()
    const store = gcsStore(place)
    const lease = await new StoreLock(key, { store }).acquire()
    await lease.release()
    await store.close()
  }

  // Tests stores: A start on a probed bucket asks once and writes nothing; readers never write.
  it("probes once; whoever comes later asks four times at most, and writes its lease alone", async () => {
    await lockOnce("first")
    expect(written().filter((object) => object.startsWith("probe/")).length).toBeGreaterThan(3)
    expect(written().filter((object) => object.startsWith("proofs/"))).toHaveLength(2)
    await lockOnce("second")
    expect(written()).toEqual(["leases/second", "leases/second"])
    expect(proxy.count()).toBeLessThanOrEqual(4) // the release is among them
  })

  it("of a manager asks twice, and writes nothing", async () => {
    const start = async (): Promise<void> => {
      proxy.forget()
      const store = gcsStore(place)
      const manager = await SandboxManager.start({ store, sandboxes: [] })
      await manager.drain({ grace: 1000 })
      await store.close()
    }
    await start()
    await start()
    expect(written()).toEqual([])
    expect(proxy.count()).toBe(2)
  })

  /** A machine that knows the bucket by way of the proxy. */
  const machine = (runtime: Runtime): Shell =>
    new Shell(runtime, {
      LEASEHOLD_STORE: `gs://${place.bucket}/${place.prefix}`,
      STORAGE_EMULATOR_HOST: new URL(proxy.url).host,
    })

  it.each<Runtime>(["node", "deno"])(
    "writes nothing for who reads, on %s, also where it was never probed",
    async (runtime) => {
      const user = machine(runtime)
      for (const words of [["status", "k"], ["ls"], ["unlock", "k"]]) {
        proxy.forget()
        expect((await user.call(...words)).code).toBe(0)
        expect(written()).toEqual([])
        expect(proxy.count()).toBe(2)
      }
    },
  )

  it.each<Runtime>(["node", "deno"])("of `run` on %s is three requests, of which one writes", async (runtime) => {
    const user = machine(runtime)
    await user.call("run", "k", "--", "true")
    proxy.forget()
    const second = user.start("run", "k", "--", "sh", "-c", "echo at work; read line")
    await says(second, "at work")
    expect(written()).toEqual(["leases/k"])
    expect(proxy.count()).toBe(3)
    second.child.stdin?.end("\n")
    expect((await second.ended).code).toBe(0)
  })

  it("is a probe for `doctor`, whatever is remembered", async () => {
    const user = machine("node")
    await user.call("run", "k", "--", "true")
    proxy.forget()
    expect((await user.call("doctor")).stdout).toContain(
      "probe: writes are taken and refused as their preconditions say",
    )
    expect(written().filter((object) => object.startsWith("probe/")).length).toBeGreaterThan(3)
  })
})
