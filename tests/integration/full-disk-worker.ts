/**
 * Writes into a directory until a write fails, then makes room and writes again; prints what it was told as JSON:
 * `full-disk-worker.ts <directory>`.
 */
import { readdir } from "node:fs/promises"
import process from "node:process"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import { ABSENT, type ObjectRef, type WriteAnswer } from "../../src/locks/stores/port.ts"

const [directory = ""] = process.argv.slice(2)
const options = { deadline: 10_000 }
const lease: ObjectRef = { area: "leases", name: "key" }
const large = new Uint8Array(16_384)
const content = (number: number): ObjectRef => ({ area: "state", name: `key/1-${number}-x` })

const store = fileStore({ directory })
await store.start(options)
await store.put(lease, ABSENT, new TextEncoder().encode("before"), options)

/** Until one isn't applied: how many were, and what the last answer was. */
async function fill(): Promise<{ readonly stored: number; readonly answer: WriteAnswer }> {
  for (let stored = 0; ; stored++) {
    const answer = await store.put(content(stored), ABSENT, large, options)
    if (answer.kind !== "applied") return { stored, answer }
  }
}

const { stored, answer } = await fill()
const quick = await store.put(lease, "1", large, options)
const read = await store.read(lease, { ...options, limit: 1000 })
const left = await readdir(directory, { recursive: true })
for (let number = 0; number < stored; number++) await store.remove(content(number), "1", options)
const again = await store.put(lease, "1", new TextEncoder().encode("after"), options)

function told(write: WriteAnswer): unknown {
  if (write.kind !== "unknown") return { kind: write.kind }
  const { _tag, retryable, message } = write.error
  return { kind: write.kind, _tag, retryable, message, status: "status" in write.error && write.error.status }
}

console.log(
  JSON.stringify({
    durable: told(answer),
    quick: told(quick),
    read: read.kind === "found" ? new TextDecoder().decode(read.body) : read.kind,
    temporaries: left.filter((path) => path.includes(".t-")),
    again: again.kind,
  }),
)
