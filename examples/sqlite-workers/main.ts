// `npm start`: the main job on two real worker processes, told as a timeline, with what it showed as its last line.
import process from "node:process"
import { LockError } from "leasehold"
import { Failure } from "./failure.ts"
import type { Outcome } from "./job.ts"
import { help, readOptions, UsageError } from "./options.ts"
import { RoutingJob } from "./routing/job.ts"
import { Run } from "./run.ts"

const FAILED = 1
const MISUSED = 2

/** Runs what the arguments ask for. The exit code. */
async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (options === "help") {
    console.log(help)
    return 0
  }
  if (options.routing) return routing()
  await using run = new Run(options)
  const passed = tell(await run.job())
  const drained = options.stay ? await run.stay() : true
  return passed && drained ? 0 : FAILED
}

/** The exit code of the routing job, which is told in a line. */
async function routing(): Promise<number> {
  await using job = new RoutingJob()
  const { acknowledged, once, sent, forwarded, handoffs, takeovers, problems } = await job.run()
  for (const problem of problems) console.log(`failed: ${problem}`)
  const calls = `requests ${sent}, sent on ${forwarded}`
  console.log(
    `routing: rows applied once ${once}/${acknowledged}, ${calls}, takeovers ${takeovers}, handoffs ${handoffs}`,
  )
  return problems.length === 0 ? 0 : FAILED
}

function tell({ handoffMs, takeoverMs, found, acknowledged, ownersAtOnce, problems }: Outcome): boolean {
  for (const problem of problems) console.log(`failed: ${problem}`)
  const times = `handoff ${Math.round(handoffMs)} ms, takeover ${Math.round(takeoverMs)} ms`
  console.log(`main job: ${times}, rows ${found}/${acknowledged}, owners at once ${ownersAtOnce}`)
  return problems.length === 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const isPlain = error instanceof UsageError || error instanceof Failure || error instanceof LockError
  console.error(isPlain ? error.message : error)
  if (error instanceof UsageError) console.error("--help says what there is")
  process.exitCode = error instanceof UsageError ? MISUSED : FAILED
}
