/**
 * A store on a server that is named by an option, in a process that Deno lets read no variable. Prints whether it
 * wrote.
 */
import { gcsStore } from "../../../src/locks/stores/gcs/mod.ts"
import { ABSENT } from "../../../src/locks/stores/port.ts"
import { startStrictGcs } from "../../support/strict-gcs-server.ts"

const server = await startStrictGcs()
const store = gcsStore({ bucket: "bucket", endpoint: server.url })
await store.start({ deadline: 20_000 })
const ref = { area: "leases", name: "key" } as const
const { kind } = await store.put(ref, ABSENT, new TextEncoder().encode("{}"), { deadline: 20_000 })
console.log(kind)
await store.close()
await server[Symbol.asyncDispose]()
