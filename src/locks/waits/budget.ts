/**
 * The budget of a wait for a program that gets it from outside: from a flag, an environment variable, a configuration
 * file, or the scope that it works in. Says where the budget came from and how to change it there, for the error of a
 * timeout.
 *
 * A budget that doesn't count is not read: with a flag, a malformed environment variable is no error. Two mistakes are
 * errors even so: a scope that isn't known, and a `locking` that is no table.
 */
import process from "node:process"
import { type Budget, type BudgetOrigin, budgetOf, type BudgetText, strongest } from "../../runtime/input/budget.ts"
import { anObject, aText, type OptionChecks, refusal, refuseUnknown, shown } from "../../runtime/input/options.ts"
import type { TimeoutSource } from "../api/lock.ts"

/** The environment variable that sets a budget. */
const VARIABLE = "LEASEHOLD_LOCK_TIMEOUT"

/** The scopes that are known by themselves, with their budgets. */
const SHIPPED_SCOPES: Readonly<Record<string, BudgetText>> = { install: "30 s", cache: "10 s", uninstall: "30 s" }

/** The budget that nothing sets, in seconds. */
const DEFAULT = 600

/** The sources of a budget. */
export interface WaitBudgetOptions {
  /** The flag's value, if it was given. */
  readonly flag?: BudgetText | undefined
  /** The environment that has LEASEHOLD_LOCK_TIMEOUT. Without one: this process's, as far as it may be read. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** The configuration file as parsed, of which `locking.timeout` counts. */
  readonly configuration?: { readonly locking?: { readonly timeout?: BudgetText | undefined } | undefined } | undefined
  /** What the wait is for: a name in `scopes`, or `install` (30 s), `cache` (10 s) or `uninstall` (30 s). */
  readonly scope?: string | undefined
  /** Scopes of your own with their budgets. One that is known already is replaced. */
  readonly scopes?: Readonly<Record<string, BudgetText>> | undefined
  /** How messages name the flag and the configuration file. Without one: `--lock-timeout` and `the configuration`. */
  readonly names?: { readonly flag?: string; readonly configuration?: string } | undefined
}

/** Where a budget came from, and what was written there. */
export interface BudgetSource extends TimeoutSource {
  /** Which of the sources counted. */
  readonly origin: BudgetOrigin
  /** As it was written. */
  readonly written: BudgetText
}

/**
 * A budget that remembers its source. Spread it into the options of an acquire: `lock.acquire({ ...waitBudget({ flag })
 * })`.
 */
export interface WaitBudget {
  /** The whole wait, in milliseconds; 0 is one try without waiting. */
  readonly timeout: Budget
  /** Where it came from. */
  readonly timeoutSource: BudgetSource
}

const NAMES: OptionChecks<NonNullable<WaitBudgetOptions["names"]>> = { flag: aText, configuration: aText }

/**
 * A budget is checked where it counts. The content of a file is checked where it is read: that of an empty file is
 * null.
 */
const OPTIONS: OptionChecks<WaitBudgetOptions> = {
  flag: true,
  environment: anObject("Give an object such as process.env, or leave it out for this process's own"),
  configuration: true,
  scope: true,
  scopes: anObject("Give the budgets by the names of their scopes"),
  names: (name, value) => refuseUnknown(name, value as object, NAMES),
}

/**
 * The budget that counts: that of the flag, else of LEASEHOLD_LOCK_TIMEOUT, else of `locking.timeout` in the
 * configuration, else of the scope, else 600 s. Bare numbers are seconds.
 *
 * InvalidConfigError: the budget that counts can't be parsed, the scope is unknown, or `locking` is no table. It names
 * the source and what to write there.
 */
export function waitBudget(options: WaitBudgetOptions = {}): WaitBudget {
  refuseUnknown("waitBudget", options, OPTIONS)
  const { flag, configuration, scope, environment = ownEnvironment() } = options
  const offers = {
    flag,
    // A shell unsets a variable for one command by an empty value.
    environment: environment[VARIABLE] || undefined,
    configuration: lockingOf(configuration, options)["timeout"],
    scope: scope === undefined ? undefined : scopeBudget(scope, options.scopes),
    default: DEFAULT,
  }
  const origin = strongest(offers) ?? "default"
  const written = offers[origin]
  const timeout = budgetOf(written)
  if (timeout === undefined) throw badBudget(placeOf(origin, options), written)
  return { timeout, timeoutSource: sourceOf(origin, written as BudgetText, options) }
}

/** Where a budget is written. */
function placeOf(origin: BudgetOrigin, { scope, names }: WaitBudgetOptions): string {
  switch (origin) {
    case "flag":
      return names?.flag ?? "--lock-timeout"
    case "environment":
      return VARIABLE
    case "configuration":
      return `locking.timeout in ${names?.configuration ?? "the configuration"}`
    case "scope":
      return `scope ${scope}`
    case "default":
      return "the default"
  }
}

function sourceOf(origin: BudgetOrigin, written: BudgetText, options: WaitBudgetOptions): BudgetSource {
  const place = placeOf(origin, options)
  const flag = placeOf("flag", options)
  const setting = placeOf("configuration", options)
  switch (origin) {
    case "flag":
      return {
        origin,
        written,
        name: `${flag} ${written}`,
        change: `Pass ${flag} with more seconds, or with "infinite"`,
      }
    case "environment":
      return { origin, written, name: `${place}=${written}`, change: `Set ${place} to more seconds, or pass ${flag}` }
    case "configuration":
      return { origin, written, name: place, change: `Raise ${place}, set ${VARIABLE} or pass ${flag}` }
    case "scope": {
      const change = `Pass ${flag}, set ${VARIABLE}, or give ${place} a longer default`
      return { origin, written, name: `the default of ${place}`, change }
    }
    case "default": {
      const change = `Pass ${flag}, or set ${VARIABLE} or ${setting}`
      return { origin, written, name: `the default of ${DEFAULT} s`, change }
    }
  }
}

function scopeBudget(scope: string, own: WaitBudgetOptions["scopes"] = {}): unknown {
  const scopes = { ...SHIPPED_SCOPES, ...own }
  if (Object.hasOwn(scopes, scope)) return scopes[scope] ?? null
  throw refusal(
    `The scope ${shown(scope)} is not known`,
    `Use one of ${Object.keys(scopes).join(", ")}, or add it to the scopes with its budget`,
  )
}

function lockingOf(configuration: unknown, { names }: WaitBudgetOptions): Readonly<Record<string, unknown>> {
  const locking = isObject(configuration) ? (configuration["locking"] ?? {}) : (configuration ?? {})
  if (isObject(locking)) return locking
  throw refusal(
    `locking in ${names?.configuration ?? "the configuration"} is ${shown(locking)}`,
    `Write "locking": { "timeout": 30 }, or leave it out`,
  )
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function badBudget(place: string, written: unknown): Error {
  return refusal(
    `${place} is ${shown(written)}, which is no wait budget`,
    `Write seconds (30 or 2.5), a duration ("30 s", "2 min"), 0 for one try without waiting, or "infinite"`,
  )
}

/** This process's variable. Not read where Deno would first ask for permission at the terminal. */
function ownEnvironment(): Readonly<Record<string, string | undefined>> {
  const { Deno: deno } = globalThis as { Deno?: { permissions: { querySync(descriptor: object): { state: string } } } }
  const query = { name: "env", variable: VARIABLE }
  if (deno !== undefined && deno.permissions.querySync(query).state !== "granted") return {}
  return { [VARIABLE]: process.env[VARIABLE] }
}
