/** What a run was asked to do, checked. */
import { waitBudget, type WaitBudget } from "../../locks/waits/budget.ts"
import { budgetOf } from "../../runtime/input/budget.ts"
import { ofFlag, UsageError } from "../errors/usage-error.ts"
import type { Call } from "../frame/syntax.ts"
import type { FoundConfig } from "../stores/config.ts"
import { textOption } from "../stores/session.ts"

/** When another asks for a key. */
export type OnRequest = { readonly do: "term" | "ignore" } | { readonly do: "exec"; readonly line: string }

/** What a run was asked to do. Times in milliseconds. */
export interface Wish {
  readonly budget: WaitBudget
  readonly ttl: number
  readonly grace: number
  readonly onRequest: OnRequest
  /** Ask the owner to leave. */
  readonly asks: boolean
  /** Fail where another asks already. */
  readonly queues: boolean
}

/** Throws UsageError or InvalidConfigError. */
export function wishOf({ io, options }: Call, { file, config }: FoundConfig): Wish {
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
    ttl: time(options, "ttl", 30_000),
    grace: time(options, "grace", 10_000),
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
