/**
 * The fault proxy as a process:
 *
 *     node tests/support/fault-proxy/main.ts --target URL --seed N [--rates JSON] [--port P] [--limit]
 *
 * Without a seed nothing fails until it is told to. It prints lines of JSON: `{"ready":"<its address>"}`, then one for
 * each fault (`LogLine` of proxy.ts). Lines of JSON on its standard input are commands (`Command` below), each
 * confirmed by a line `{"at":…,"did":"partition"}`. It ends when its input does.
 */
import process from "node:process"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import { liveClock } from "../../../src/runtime/time/clock.ts"
import type { ChaosOptions, Rates } from "./chaos.ts"
import { type FaultProxy, startFaultProxy } from "./proxy.ts"

/** What a line on standard input asks for. */
export type Command = { readonly do: "partition" | "heal" | "calm" } | ({ readonly do: "chaos" } & ChaosOptions)

const print = (line: object): void => console.log(JSON.stringify(line))

function obey(proxy: FaultProxy, command: Command): void {
  switch (command.do) {
    case "partition":
      return proxy.partition()
    case "heal":
      return proxy.heal()
    case "calm":
      return proxy.calm()
    case "chaos":
      return proxy.chaos(command)
    default:
      throw new Error(`there is no command ${JSON.stringify(command)}; there are partition, heal, calm and chaos`)
  }
}

function follow(proxy: FaultProxy, command: Command): void {
  obey(proxy, command)
  print({ at: liveClock.read().wall, did: command.do })
}

async function main(): Promise<void> {
  const text = { type: "string" } as const
  const { values } = parseArgs({
    options: { target: text, seed: text, rates: text, port: text, limit: { type: "boolean" } },
  })
  const { target, seed, rates, port = "0", limit = false } = values
  if (target === undefined)
    throw new Error("no --target; give the address of the server, such as http://127.0.0.1:4443")
  const proxy = await startFaultProxy({ target, port: Number(port), limit, record: false, log: print })
  if (seed !== undefined)
    proxy.chaos({ seed: Number(seed), ...(rates !== undefined && { rates: JSON.parse(rates) as Rates }) })
  createInterface({ input: process.stdin })
    .on("line", (line) => attempt(() => follow(proxy, JSON.parse(line) as Command)))
    .on("close", () => process.exit())
  print({ ready: proxy.url })
}

function attempt(step: () => void): void {
  try {
    step()
  } catch (error) {
    fail(error)
  }
}

/** A run whose proxy did something else than it was told is worth nothing. */
function fail(error: unknown): never {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(2)
}

await main().catch(fail)
