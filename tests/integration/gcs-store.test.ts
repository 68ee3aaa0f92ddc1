// The GCS store on a real server of another maker: fake-gcs-server, or a bucket of GCS itself (LEASEHOLD_TEST_BUCKET).
// What the emulator gets wrong is left to tests/locks/stores/gcs*.test.ts and their strict server.
import { Buffer } from "node:buffer"
import { spawn } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import process from "node:process"
import type { Duplex } from "node:stream"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gcsStore, type GcsStoreOptions } from "../../src/locks/stores/gcs/mod.ts"
import {
  ABSENT,
  type CheckpointStore,
  type Generation,
  type LeaseStore,
  type ObjectRef,
} from "../../src/locks/stores/port.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import type { MakeStore } from "../../src/testing/mod.ts"
import { describeConformance } from "../support/conformance.ts"
import { gcsTarget } from "./support/gcs-target.ts"

const within = { deadline: 20_000 }
const target = gcsTarget()
const onEmulator = target.endpoint !== undefined
const child = fileURLToPath(new URL("./support/gcs-child.ts", import.meta.url))

let store: LeaseStore & CheckpointStore

beforeAll(async () => {
  store = gcsStore(target)
  await store.start(within)
})

afterAll(() => store.close())

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const fresh = (): ObjectRef => ({ area: "leases", name: liveClock.id().toLowerCase() })

async function write(ref: ObjectRef, expected: Generation, body: Uint8Array): Promise<Generation> {
  const answer = await store.put(ref, expected, body, within)
  if (answer.kind !== "applied") throw new Error(`the put was ${answer.kind}`, { cause: answer })
  return answer.generation
}

/**
 * Adds 1 to the number in an object, as often as it takes; GCS itself takes a write a second, so that few are enough.
 */
async function increment(by: LeaseStore, ref: ObjectRef): Promise<void> {
  for (;;) {
    const seen = await by.read(ref, { ...within, limit: 100 })
    if (seen.kind !== "found") continue
    const next = bytes(String(Number(Buffer.from(seen.body).toString()) + 1))
    if ((await by.put(ref, seen.generation, next, within)).kind === "applied") return
  }
}

/** A process that uses a store; `ended` settles when it has ended by itself. */
function startChild(
  options: GcsStoreOptions,
  ending: string,
  env: Readonly<Record<string, string>> = {},
): { readonly pid: number; readonly ended: Promise<{ readonly code: unknown; readonly output: string }> } {
  const program = "Deno" in globalThis ? ["run", "-A", child] : [child]
  const run = spawn(process.execPath, [...program, JSON.stringify(options), ending], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, DENO_NO_UPDATE_CHECK: "1", ...env },
  })
  let output = ""
  run.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<{ readonly code: unknown; readonly output: string }>((settle, fail) => {
    run.once("error", fail).once("close", (code) => settle({ code, output }))
  })
  return { pid: run.pid ?? 0, ended }
}

describe("a GCS store on a real server", () => {
  const makeStore: MakeStore = (place) => gcsStore({ ...target, prefix: `${target.prefix}/${place}` })
  describeConformance(makeStore, { deletes: !onEmulator, deadline: 20_000 })

  it("finds out at its start whether deletes honour their precondition", () => {
    expect(store.capabilities.deletes).toBe(!onEmulator)
  })

  it("tells the server's time, in whole seconds", async () => {
    const { storeTime } = await store.read(fresh(), { ...within, limit: 100 })
    expect(storeTime).toEqual(expect.any(Number))
    expect((storeTime ?? 1) % 1000).toBe(0)
    expect(Math.abs((storeTime ?? 0) - liveClock.read().wall)).toBeLessThan(60_000)
  })

  it("keeps every byte of 3 MB, and says tooLarge below that", async () => {
    const ref = { area: "state", name: `${fresh().name}/1-1-x` } as const
    const body = Uint8Array.from({ length: 3 * 2 ** 20 }, (_, place) => (place * 31) % 256)
    const generation = await write(ref, ABSENT, body)
    const answer = await store.read(ref, { ...within, limit: body.length })
    expect(answer.kind === "found" && Buffer.compare(answer.body, body)).toBe(0)
    expect(await store.read(ref, { ...within, limit: 65_536 })).toMatchObject({ kind: "tooLarge", generation })
  })

  it.each(["=2e=2e", "a=2fb", "a~b", "a%2Fb", "ü &?#+="])("keeps %j apart from all other names", async (name) => {
    const ref = { area: "state", name: `${fresh().name}/${name}` } as const
    const generation = await write(ref, ABSENT, bytes("x"))
    const { items } = await store.list("state", { ...within, prefix: ref.name.slice(0, 17) })
    expect(items).toEqual([{ name: ref.name, generation }])
    expect(await store.read(ref, { ...within, limit: 10 })).toMatchObject({ kind: "found", generation })
  })

  it("has one winner in each race of eight creates", async () => {
    for (let race = 0; race < 25; race++) {
      const ref = fresh()
      const racers = Array.from({ length: 8 }, (_, racer) => store.put(ref, ABSENT, bytes(String(racer)), within))
      const answers = await Promise.all(racers)
      const winner = answers.findIndex(({ kind }) => kind === "applied")
      expect(answers.filter(({ kind }) => kind === "applied")).toHaveLength(1)
      const seen = await store.read(ref, { ...within, limit: 10 })
      expect(seen.kind === "found" && Buffer.from(seen.body).toString()).toBe(String(winner))
    }
  })

  it("loses no increment of four stores at once", async () => {
    const ref = fresh()
    await write(ref, ABSENT, bytes("0"))
    const stores = Array.from({ length: 4 }, () => gcsStore(target))
    await Promise.all(stores.map((one) => one.start(within)))
    const rounds = onEmulator ? 25 : 2
    const climb = async (one: LeaseStore): Promise<void> => {
      for (let round = 0; round < rounds; round++) await increment(one, ref)
    }
    await Promise.all(stores.map(climb))
    const seen = await store.read(ref, { ...within, limit: 10 })
    expect(seen.kind === "found" && Buffer.from(seen.body).toString()).toBe(String(4 * rounds))
    await Promise.all(stores.map((one) => one.close()))
  })

  it("is refused in a bucket that doesn't exist, by name", async () => {
    const missing = gcsStore({ ...target, bucket: `leasehold-none-${fresh().name.replaceAll("_", "0")}x` })
    await expect(missing.start(within)).rejects.toMatchObject({ _tag: "StoreMisconfiguredError" })
    await missing.close()
  })

  // Tests stores: A proxy is the environment's, as curl reads it, and never a CGI caller's; a bad one is refused.
  it("goes through the proxy that the environment names", async () => {
    const proxy = createServer()
    const asked = new Promise<void>((settle) => {
      proxy.on("connect", ({ url }: { url?: string }, socket: Duplex) => {
        if (url === "gcs.test:443") settle()
        socket.on("error", () => {}) // the child is killed with its connection open
        socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
      })
    })
    await new Promise<void>((settle) => void proxy.listen(0, "127.0.0.1", settle))
    const https_proxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const options = { bucket: "bucket", endpoint: "https://gcs.test" }
    const { pid, ended } = startChild(options, "close", { https_proxy })
    await expect(asked).resolves.toBeUndefined()
    process.kill(pid, "SIGKILL")
    await ended
    proxy.close()
  })

  it("leaves HTTP_PROXY aside, which a CGI program gets from its caller", async () => {
    const HTTP_PROXY = "http://127.0.0.1:9"
    const { code, output } = await startChild(gcsTarget(), "close", {
      HTTP_PROXY,
      http_proxy: "",
      NO_PROXY: "",
      no_proxy: "",
    }).ended
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('"written":"applied"') as string })
  })

  it.each(["close", "leave"])("keeps no process alive (%s), and loads undici on Node only", async (ending) => {
    const { code, output } = await startChild(gcsTarget(), ending).ended
    expect(code).toBe(0)
    expect(JSON.parse(output)).toEqual({ written: "applied", read: "found", undici: !("Deno" in globalThis) })
  })
})
