/** `npm run bench`: every figure that leasehold claims, measured here and now. `npm run bench -- schedule` runs one. */
import process from "node:process"
import { benchFilePut } from "./file-put.ts"
import { benchGcsWrite } from "./gcs-write.ts"
import { benchRequests } from "./requests.ts"
import { benchSchedule } from "./schedule.ts"

const benches: Readonly<Record<string, () => Promise<void>>> = {
  // First, while the heap is small: microseconds are what it measures.
  "file-put": benchFilePut,
  requests: benchRequests,
  "gcs-write": benchGcsWrite,
  // Last, since its 100,000 actors leave a heap that every later figure would pay for.
  schedule: benchSchedule,
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in benches))
if (unknown.length > 0) {
  console.error(`no such bench: ${unknown.join(", ")}; there are ${Object.keys(benches).join(", ")}`)
  process.exit(2)
}
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.log(`# ${name}`)
  await bench()
}
process.exit()
