/**
 * A process that uses a GCS store and then has nothing left to do: `gcs-child.ts '<options as JSON>' close|leave`.
 * Prints what it saw as JSON. That it ends is the test's matter.
 */
import process from "node:process"
import { gcsStore, type GcsStoreOptions } from "../../../src/locks/stores/gcs/mod.ts"
import { ABSENT } from "../../../src/locks/stores/port.ts"

const [options = "{}", ending] = process.argv.slice(2)
const store = gcsStore(JSON.parse(options) as GcsStoreOptions)
await store.start({ deadline: 20_000 })
const ref = { area: "leases", name: "key" } as const
const written = await store.put(ref, ABSENT, new TextEncoder().encode("{}"), { deadline: 5000 })
const read = await store.read(ref, { deadline: 5000, limit: 100 })
if (ending === "close") await store.close()
const undici = Symbol.for("undici.globalDispatcher.2") in globalThis
console.log(JSON.stringify({ written: written.kind, read: read.kind, undici }))
