/**
 * What the tests of the GCS store share: a store on a strict server under a clock that says when a wait begins, and
 * short ways to write what every call needs.
 */
import { Buffer } from "node:buffer"
import { gcsStore, type GcsStoreOptions } from "../../src/locks/stores/gcs/mod.ts"
import type { CheckpointStore, LeaseStore, ObjectRef, ReadAnswer, ReadOptions } from "../../src/locks/stores/port.ts"
import type { Timer, TimerOptions } from "../../src/runtime/time/clock.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"
import type { StrictGcsServer } from "./strict-gcs-server.ts"

/** Virtual time that tells of timers: only real requests end by themselves, so a test must know when to move on. */
export class TellingTime extends VirtualTime {
  readonly #waiting: { readonly ms: number; readonly armed: () => void }[] = []

  /** Settles when the next wait of exactly `ms` begins. */
  armed(ms: number): Promise<void> {
    return new Promise((armed) => void this.#waiting.push({ ms, armed }))
  }

  override after(ms: number, callback: () => void, options?: TimerOptions): Timer {
    const timer = super.after(ms, callback, options)
    const index = this.#waiting.findIndex((waiting) => waiting.ms === ms)
    if (index >= 0) this.#waiting.splice(index, 1)[0]?.armed()
    return timer
  }
}

export type GcsStore = LeaseStore & CheckpointStore

/** A store on the strict server; not started. */
export function storeOn(server: StrictGcsServer, clock: VirtualTime, options: Partial<GcsStoreOptions> = {}): GcsStore {
  const endpoint = options.storage === undefined ? { endpoint: server.url } : {}
  return gcsStore({ bucket: "bucket", prefix: "a/b", clock, ...endpoint, ...options })
}

/** A started one, with the probe's requests forgotten. */
export async function startedOn(
  server: StrictGcsServer,
  clock: VirtualTime = new VirtualTime(),
  options: Partial<GcsStoreOptions> = {},
): Promise<GcsStore> {
  const store = storeOn(server, clock, options)
  await store.start({ deadline: 10_000 })
  server.forget()
  return store
}

export const lease: ObjectRef = { area: "leases", name: "key" }
export const content: ObjectRef = { area: "state", name: "key/1-1-x" }
export const within: { readonly deadline: number } = { deadline: 5000 }

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

export const readOptions = (options: Partial<ReadOptions> = {}): ReadOptions => ({
  deadline: 5000,
  limit: 65_536,
  ...options,
})

/** A read whose body is text, for comparing. */
export async function textOf(answer: Promise<ReadAnswer>): Promise<unknown> {
  const read = await answer
  return read.kind === "found" ? { ...read, body: Buffer.from(read.body).toString() } : read
}

/**
 * The file of a workload that trades its own token for one of Google's, as on another cloud. Both are those of the
 * strict server at `url`, `token-1` unless it is told another.
 */
export const federated = (url: string): { readonly type: "external_account" } & Readonly<Record<string, unknown>> => ({
  type: "external_account",
  audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/provider",
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  token_url: `${url}/sts/token`,
  credential_source: { url: `${url}/sts/subject` },
})
