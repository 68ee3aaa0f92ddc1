/** Processes that want one key again and again, and how often each of them had it. */
import { onTestFinished } from "vitest"
import type { TurnWorkerSettings } from "../turn-worker.ts"
import { type Runtime, spawnScript } from "./spawn.ts"

const script = new URL("../turn-worker.ts", import.meta.url)
const ownRuntime: Runtime = "Deno" in globalThis ? "deno" : "node"

/**
 * Lets so many contend until each of them had so many turns. How many each had by then. They run on these runtimes by
 * turns.
 */
export async function turnsOf(
  processes: number,
  each: number,
  settings: TurnWorkerSettings,
  runtimes: readonly Runtime[] = [ownRuntime],
): Promise<readonly number[]> {
  const had = Array.from({ length: processes }, () => 0)
  const all = Promise.withResolvers<readonly number[]>()
  let begun = 0
  // Those that start first have turns to themselves: these don't count.
  const count = (index: number): void => {
    if (had[index] === 0) begun++
    if (begun === processes || had[index] === 0) had[index]!++
    if (begun === processes && Math.min(...had) > each) all.resolve(had.map((turns) => turns - 1))
  }
  for (const index of had.keys()) {
    const runtime = runtimes[index % runtimes.length]!
    const { child, ended } = spawnScript({ runtime, script, args: [JSON.stringify(settings)] })
    child.stdout!.on("data", (text: string) => {
      for (const _ of text.matchAll(/\n/g)) count(index)
    })
    void ended.then(({ code, stderr }) => all.reject(new Error(`a process ended with ${code}: ${stderr}`)))
    onTestFinished(async () => {
      child.kill("SIGKILL")
      await ended
    })
  }
  all.promise.catch(() => {})
  return all.promise
}
