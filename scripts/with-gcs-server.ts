// Runs a command beside a GCS server with the bucket `leasehold`, at the address in the command's
// STORAGE_EMULATOR_HOST:
//     node scripts/with-gcs-server.ts npm start -- --store gs://leasehold/try
// The exit code is the command's.
import { spawn } from "node:child_process"
import { once } from "node:events"
import process from "node:process"
import { startGcsServer } from "../tests/integration/support/gcs-server.ts"

const [command, ...args] = process.argv.slice(2)
if (command === undefined) throw new Error("give the command to run")
await using server = await startGcsServer()
await server.createBucket("leasehold")
const env = { ...process.env, STORAGE_EMULATOR_HOST: server.endpoint }
const child = spawn(command, args, { stdio: "inherit", env })
// A terminal sends Ctrl-C to the command too: the server stays until that has ended.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal))
const [code] = (await once(child, "close")) as [number | null]
process.exitCode = code ?? 1
