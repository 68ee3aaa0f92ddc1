/**
 * `npm run bench`: every goal that is a figure, measured here and now, and what it is made of.
 * `npm run bench -- schedule` measures one. Each is measured in a process of its own, so that none pays for the heap
 * that another left. The exit code says whether all goals are met.
 */
import { spawnSync } from "node:child_process"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { benchCalls } from "./calls.ts"
import { benchCommand } from "./command.ts"
import { benchFileLock } from "./file-lock.ts"
import { benchFilePut } from "./file-put.ts"
import { benchGcsWrite } from "./gcs-write.ts"
import { benchHandoff } from "./handoff.ts"
import { benchIdle } from "./idle.ts"
import { benchInspector } from "./inspector.ts"
import { benchPage } from "./page.ts"
import { benchProviders } from "./providers.ts"
import { benchRequests } from "./requests.ts"
import { benchScale } from "./scale.ts"
import { benchSchedule } from "./schedule.ts"
import { benchSimulation } from "./simulation.ts"
import { benchTrace } from "./trace.ts"
import { benchWaitCpu } from "./wait-cpu.ts"

const benches: Readonly<Record<string, () => Promise<void>>> = {
  calls: benchCalls,
  command: benchCommand,
  "file-put": benchFilePut,
  "file-lock": benchFileLock,
  requests: benchRequests,
  "gcs-write": benchGcsWrite,
  handoff: benchHandoff,
  idle: benchIdle,
  inspector: benchInspector,
  page: benchPage,
  providers: benchProviders,
  scale: benchScale,
  schedule: benchSchedule,
  simulation: benchSimulation,
  trace: benchTrace,
  "wait-cpu": benchWaitCpu,
}

const [wanted, flags] = [false, true].map((isFlag) =>
  process.argv.slice(2).filter((each) => each.startsWith("--") === isFlag),
) as [string[], string[]]
const unknown = wanted.filter((name) => !(name in benches))
if (unknown.length > 0) {
  console.error(`no such bench: ${unknown.join(", ")}; there are ${Object.keys(benches).join(", ")}`)
  process.exit(2)
}
const [only] = wanted
if (only !== undefined && wanted.length === 1) await measure(only)
else for (const name of wanted.length > 0 ? wanted : Object.keys(benches)) measureApart(name)
process.exit()

async function measure(name: string): Promise<void> {
  console.log(`# ${name}`)
  await benches[name]!()
}

function measureApart(name: string): void {
  const program = [...process.execArgv, fileURLToPath(import.meta.url), name, ...flags]
  const { status } = spawnSync(process.execPath, program, { stdio: "inherit" })
  if (status !== 0) process.exitCode = 1
}
