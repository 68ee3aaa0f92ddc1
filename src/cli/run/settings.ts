/**
 * The settings of a run: its options, the environment and the configuration, checked. It doesn't say which key or
 * command.
 */
import { waitBudget, type WaitBudget } from "../../locks/waits/budget.ts"
import { budgetOf } from "../../runtime/input/budget.ts"
import { ofFlag, UsageError } from "../errors/usage-error.ts"
import type { Call } from "../frame/syntax.ts"
import type { FoundConfig } from "../stores/config.ts"
import { textOption } from "../stores/session.ts"

/** What is done when another process asks for a key. */
export type OnRequest = { readonly do: "term" | "ignore" } | { readonly do: "exec"; readonly line: string }

/** How a run waits, holds and ends. Times in milliseconds. */
export interface RunSettings {
  readonly budget: WaitBudget
  readonly ttl: number
  readonly grace: number
  readonly onRequest: OnRequest
  /** Whether the owner is asked to leave (`--ask`). */
  readonly asks: boolean
  /** Whether the run waits where another process asks already; with `--no-queue` it fails. */
  readonly queues: boolean
}

/** The lease without renewal, in ms, as of every lock (commands.ts tells it). */
const DEFAULT_TTL = 30_000

/** From SIGTERM to SIGKILL where another asks, in ms: what systems give a service to stop is as long. */
const DEFAULT_GRACE = 10_000

/** Reads them. Throws UsageError or InvalidConfigError. */
export function runSettings({ io, options }: Call, { file, config }: FoundConfig): RunSettings {
  const asks = options["ask"] === true
  const queues = options["no-queue"] !== true
  if (!asks && !queues) throw new UsageError("--no-queue means nothing without --ask", "Give both, or neither")
  const flags = {
    flag: textOption(options, "lock-timeout"),
    scope: textOption(options, "scope"),
    ...(config.scopes !== undefined && { scopes: config.scopes }),
  }
  ofFlag(() => waitBudget({ ...flags, environment: {} }))
  const budget = waitBudget({
    ...flags,
    environment: io.env,
    configuration: config,
    ...(file !== undefined && { names: { configuration: file } }),
  })
  return {
    budget,
    ttl: time(options, "ttl", DEFAULT_TTL),
    grace: time(options, "grace", DEFAULT_GRACE),
    onRequest: onRequestOf(textOption(options, "on-request") ?? "term"),
    asks,
    queues,
  }
}

function time(options: Call["options"], name: string, otherwise: number): number {
  const text = textOption(options, name)
  const ms = text === undefined ? otherwise : budgetOf(text)
  if (typeof ms === "number") return ms
  throw new UsageError(
    `--${name} is ${JSON.stringify(text)}, which is no time`,
    "Give seconds (30 or 2.5), or a time such as 30s or 2min",
  )
}

function onRequestOf(text: string): OnRequest {
  if (text === "term" || text === "ignore") return { do: text }
  const line = text.slice("exec:".length)
  if (line.trim() !== "") return { do: "exec", line }
  throw new UsageError(
    "--on-request=exec: has no command",
    "Write it after the colon, such as --on-request='exec:kill -HUP 42'",
  )
}
