/**
 * Traps for time and chance that no seed controls. While a simulated run lasts these throw where they are called:
 * `Date`, timers, `Math.random`, `fetch` and the like, also those of `node:timers` and `node:crypto`. The call is noted
 * with its caller, and makes the run fail, also if the caller caught the error.
 *
 * Not promised: that a copy of such a function, taken before the run began, is caught. On Deno a name that is imported
 * from `node:timers` is such a copy. Nor that I/O is caught: files, sockets, processes and other threads.
 */
// oxlint-disable no-restricted-globals, no-restricted-imports -- what is forbidden everywhere is what is trapped here
import nodeCrypto from "node:crypto"
import { syncBuiltinESMExports } from "node:module"
import process from "node:process"
import timers from "node:timers"
import waits from "node:timers/promises"

/** A call that no seed controls. */
export interface TrappedCall {
  /** What was called: `Date.now()`. */
  readonly what: string
  /** Where: the line of the stack above the call. */
  readonly caller: string
}

/** What such a call throws. */
export class TrappedCallError extends Error {
  override readonly name = "TrappedCallError"
}

/** Set traps, until they are taken away. */
export interface Traps extends Disposable {
  /** What fell into them. */
  readonly calls: readonly TrappedCall[]
}

type TrapSlot = { readonly holder: object; readonly name: string; readonly what: string }

/** Functions of one object, with what stands before their names where they are called. */
const slotsOf = (holder: object, before: string, names: readonly string[]): readonly TrapSlot[] =>
  names.map((name) => ({ holder, name, what: `${before}${name}()` }))

/** What not every runtime has: those of the functions that this one does. */
const laterSlots = (holder: object, before: string, names: readonly string[]): readonly TrapSlot[] =>
  slotsOf(
    holder,
    before,
    names.filter((name) => name in holder),
  )

/** `Temporal.Now`, or nothing where there is no Temporal. */
const temporalNow = (): object => (globalThis as { readonly Temporal?: { readonly Now: object } }).Temporal?.Now ?? {}
const temporalNames = ["instant", "zonedDateTimeISO", "plainDateTimeISO", "plainDateISO", "plainTimeISO"]

const waiting = ["setTimeout", "setInterval", "setImmediate"]

const slots: readonly TrapSlot[] = [
  ...slotsOf(globalThis, "", [...waiting, "fetch"]),
  ...slotsOf(Math, "Math.", ["random"]),
  ...slotsOf(performance, "performance.", ["now"]),
  ...slotsOf(crypto, "crypto.", ["randomUUID", "getRandomValues"]),
  ...slotsOf(crypto.subtle, "crypto.subtle.", ["digest"]),
  ...slotsOf(AbortSignal, "AbortSignal.", ["timeout"]),
  ...slotsOf(process, "process.", ["uptime"]),
  ...slotsOf(timers, "node:timers ", waiting),
  ...slotsOf(waits, "node:timers/promises ", waiting),
  ...slotsOf(waits.scheduler, "node:timers/promises scheduler.", ["wait", "yield"]),
  ...slotsOf(nodeCrypto, "node:crypto ", ["randomBytes", "randomFill", "randomFillSync", "randomInt", "randomUUID"]),
  ...laterSlots(nodeCrypto, "node:crypto ", ["randomUUIDv7"]),
  ...laterSlots(temporalNow(), "Temporal.Now.", temporalNames),
]

/** Sets all traps. */
export function setTraps(): Traps {
  const calls: TrappedCall[] = []
  const trapped = (what: string): never => {
    const usual = Error.stackTraceLimit
    Error.stackTraceLimit = Math.max(usual, 4) // the caller is what is to be told
    const error = new TrappedCallError(
      `${what} was called in a simulated run: take time and chance from the context's clock`,
    )
    Error.stackTraceLimit = usual
    calls.push({ what, caller: callerIn(error) })
    throw error
  }
  const undo = slots.map(({ holder, name, what }) => replace(holder, name, () => trapped(what)))
  undo.push(replace(globalThis, "Date", trappedDate(trapped)), replace(process, "hrtime", trappedHrtime(trapped)))
  syncBuiltinESMExports() // on Node names that are imported from a module follow its object; Deno's don't
  return {
    calls,
    [Symbol.dispose]: () => {
      for (const restore of undo) restore()
      syncBuiltinESMExports()
    },
  }
}

/** Puts a value in a property's place; what it returns puts the property back, or away where it was inherited. */
function replace(holder: object, name: string, value: unknown): () => void {
  const own = Object.getOwnPropertyDescriptor(holder, name)
  Object.defineProperty(holder, name, {
    value,
    configurable: true,
    writable: true,
    enumerable: own?.enumerable ?? false,
  })
  return () => {
    if (own === undefined) Reflect.deleteProperty(holder, name)
    else Object.defineProperty(holder, name, own)
  }
}

/** Dates of given times are fine; what is forbidden is to ask which time it is. */
function trappedDate(trapped: (what: string) => never): DateConstructor {
  const now = (): number => (isCalledByXState(now) ? 0 : trapped("Date.now()"))
  return new Proxy(Date, {
    apply: () => trapped("Date()"),
    construct: (target, args: unknown[], newTarget) =>
      args.length === 0 ? trapped("new Date()") : (Reflect.construct(target, args, newTarget) as object),
    get: (target, name, receiver) => (name === "now" ? now : (Reflect.get(target, name, receiver) as unknown)),
  })
}

function trappedHrtime(trapped: (what: string) => never): object {
  return Object.assign(() => trapped("process.hrtime()"), { bigint: () => trapped("process.hrtime.bigint()") })
}

/**
 * XState notes when it schedules a delayed event, thousands of times in a run, and nothing reads that where the actor
 * has a clock. So the question has to be cheap: one frame of the stack, never made a text.
 */
function isCalledByXState(callee: () => unknown): boolean {
  // oxlint-disable-next-line typescript/unbound-method -- put back as it was
  const usual = { prepareStackTrace: Error.prepareStackTrace, stackTraceLimit: Error.stackTraceLimit }
  Error.stackTraceLimit = 1
  Error.prepareStackTrace = (_error, [site]) => site?.getFileName()
  const above: { readonly stack?: unknown } = {}
  Error.captureStackTrace(above, callee)
  const file = above.stack
  Object.assign(Error, usual)
  return typeof file === "string" && /[/\\]xstate[/\\]/.test(file)
}

function callerIn(error: Error): string {
  const lines = (error.stack ?? "").split("\n").slice(1)
  const own = /[/\\]simulate[/\\]machines[/\\]traps\.[jt]s/
  return (lines.find((line) => !own.test(line)) ?? "an unknown place").trim().replace(/^at /, "")
}
