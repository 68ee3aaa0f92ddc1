/** A process that uses a file store and then has nothing left to do, nor says so: `file-child.ts <directory>`. */
import process from "node:process"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import { ABSENT } from "../../src/locks/stores/port.ts"

const [directory = ""] = process.argv.slice(2)
const store = fileStore({ directory })
const options = { deadline: 10_000 }
try {
  await store.start(options)
  for (const ref of [{ area: "leases", name: "key" } as const, { area: "state", name: "key/head" } as const]) {
    await store.put(ref, ABSENT, new TextEncoder().encode("first"), options)
    await store.remove(ref, "1", options)
    await store.put(ref, ABSENT, new TextEncoder().encode("second"), options)
    const read = await store.read(ref, { ...options, limit: 100 })
    console.log(read.kind === "found" ? new TextDecoder().decode(read.body) : read.kind)
  }
  const { items } = await store.list("state", { ...options, prefix: "" })
  console.log(items.map(({ name }) => name).join())
} catch (error) {
  console.log(String(error))
}
