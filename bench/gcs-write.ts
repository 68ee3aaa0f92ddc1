/**
 * The client's CPU per write of a small object at concurrency 50: the GCS store, a bare `undici.request` that sends the
 * same upload and reads the answer's body, and @google-cloud/storage's own `save` under the same precondition. The
 * server is the real fake-gcs-server, another process.
 */
import { Buffer } from "node:buffer"
import { type Bucket, Storage } from "@google-cloud/storage"
import { Agent, request } from "undici"
import { gcsStore } from "../src/locks/stores/gcs/mod.ts"
import { ABSENT, type LeaseStore } from "../src/locks/stores/port.ts"
import { startGcsServer } from "../tests/integration/support/gcs-server.ts"
import { cpuOf, detail, inTurns, ratio } from "./ratio.ts"

const CONCURRENCY = 50
const WRITES = 3000
const ROUNDS = 5
/** About the size of a lease record. */
const body = new TextEncoder().encode(JSON.stringify({ ownerId: "bench", padding: "x".repeat(600) }))

const content = Buffer.from(body)
const BUCKET = "bench"
const BOUNDARY = "bench-boundary"
const part = (text: string): string => `--${BOUNDARY}\r\ncontent-type: application/json\r\n\r\n${text}`
const opening = Buffer.from(`${part('{"contentType":"application/json","cacheControl":"no-store"}')}\r\n${part("")}`)
const closing = Buffer.from(`\r\n--${BOUNDARY}--`)

/** Prints the figures. */
export async function benchGcsWrite(): Promise<void> {
  await using server = await startGcsServer()
  await server.createBucket(BUCKET)
  const cost = await measure(server.endpoint)
  detail("leasehold", cost.leasehold, "µs of CPU per write")
  detail("undici.request", cost.undici, "µs of CPU per write")
  detail("@google-cloud/storage save", cost.storage, "µs of CPU per write")
  ratio("gcs-write/undici.request", cost.leasehold / cost.undici, "<=", 1.4)
  ratio("gcs-write/storage.save", cost.leasehold / cost.storage, "<=", 0.17)
}

async function measure(endpoint: string): Promise<Record<"leasehold" | "undici" | "storage", number>> {
  const store = gcsStore({ bucket: BUCKET, endpoint })
  await store.start({ deadline: 10_000 })
  const agent = new Agent({ connections: CONCURRENCY })
  const bucket = new Storage({ apiEndpoint: endpoint, projectId: "bench" }).bucket(BUCKET)
  const costs = await inTurns(ROUNDS, {
    leasehold: () => costOf(WRITES, (name, generation) => byStore(store, name, generation)),
    undici: () => costOf(WRITES, (name, generation) => byUndici(agent, endpoint, name, generation)),
    storage: () => costOf(WRITES / 4, (name, generation) => bySave(bucket, name, generation)),
  })
  await Promise.all([store.close(), agent.close()])
  return costs
}

/** Writes over a generation, and tells the new one. */
type Write = (name: string, generation: string) => Promise<string>

async function byStore(store: LeaseStore, name: string, generation: string): Promise<string> {
  const answer = await store.put({ area: "leases", name }, generation, body, { deadline: 10_000 })
  if (answer.kind !== "applied") throw new Error(`the write of ${name} was ${answer.kind}`, { cause: answer })
  return answer.generation
}

async function byUndici(agent: Agent, endpoint: string, name: string, generation: string): Promise<string> {
  const upload = `/upload/storage/v1/b/${BUCKET}/o?uploadType=multipart&fields=generation&name=${name}`
  const answer = await request(`${endpoint}${upload}&ifGenerationMatch=${generation}`, {
    dispatcher: agent,
    method: "POST",
    headers: { "content-type": `multipart/related; boundary=${BOUNDARY}` },
    body: Buffer.concat([opening, body, closing]),
  })
  const { generation: written } = (await answer.body.json()) as { generation?: string }
  if (answer.statusCode !== 200 || written === undefined) throw new Error(`the write of ${name} failed`)
  return written
}

async function bySave(bucket: Bucket, name: string, generation: string): Promise<string> {
  const file = bucket.file(name)
  await file.save(content, {
    resumable: false,
    preconditionOpts: { ifGenerationMatch: generation },
    metadata: { contentType: "application/json", cacheControl: "no-store" },
  })
  return String(file.metadata.generation)
}

let runs = 0

/** Microseconds of CPU per write: `CONCURRENCY` writers at a time, each on an object of its own, as leases are. */
async function costOf(writes: number, write: Write): Promise<number> {
  const run = runs++
  let left = writes
  const writer = async (_: unknown, index: number): Promise<void> => {
    let generation = ABSENT
    while (left-- > 0) generation = await write(`run-${run}-${index}`, generation)
  }
  const cpu = await cpuOf(async () => {
    await Promise.all(Array.from({ length: CONCURRENCY }, writer))
  })
  return cpu / writes
}
