// What the tests of faults share: a started store on a strict server of its own for each test, and its calls by name.
import { afterEach, beforeEach, expect } from "vitest"
import { ABSENT, type ReadAnswer, type WriteAnswer } from "../../../src/locks/stores/port.ts"
import { bytes, type GcsStore, lease, readOptions, startedOn, TellingTime, within } from "../../support/gcs-stores.ts"
import { startStrictGcs, type StrictGcsServer } from "../../support/strict-gcs-server.ts"

/** One test's server, clock and store. */
export interface Scene {
  server: StrictGcsServer
  clock: TellingTime
  store: GcsStore
}

export const scene: Scene = {} as Scene

/** To be called once by a test file. */
export function eachTestHasItsScene(): void {
  beforeEach(async () => {
    scene.server = await startStrictGcs()
    scene.clock = new TellingTime()
    scene.store = await startedOn(scene.server, scene.clock)
  })
  afterEach(async () => {
    await scene.store.close()
    await scene.server[Symbol.asyncDispose]()
  })
}

export const read = (): Promise<ReadAnswer> => scene.store.read(lease, readOptions())
export const write = (): Promise<WriteAnswer> => scene.store.put(lease, ABSENT, bytes("{}"), within)
export const remove = (): Promise<WriteAnswer> => scene.store.remove(lease, "77", within)
export const list = (): Promise<unknown> =>
  scene.store.list("leases", { ...within, prefix: "" }).then(
    (value) => ({ kind: "listed", value }),
    (error: unknown) => ({ kind: "failed", error }),
  )

/** Whether `write` took effect. */
export const inBucket = (): boolean => scene.server.buckets.object("bucket", "a/b/leases/key") !== undefined

/** Each call, and what it answers where nothing was learned. */
export const everyCall: readonly (readonly [string, () => Promise<unknown>, string])[] = [
  ["a read", read, "failed"],
  ["a write", write, "unknown"],
  ["a delete", remove, "unknown"],
  ["a list", list, "failed"],
]

export function unavailable(status: unknown, text = ""): unknown {
  const message = expect.stringContaining(text) as string
  return expect.objectContaining({ _tag: "StoreUnavailableError", retryable: true, status, message })
}

export function misconfigured(status: unknown, text: string): unknown {
  const message = expect.stringContaining(text) as string
  return expect.objectContaining({ _tag: "StoreMisconfiguredError", retryable: false, status, message })
}
