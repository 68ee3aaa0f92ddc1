/**
 * Traps for time and chance that no seed controls. While a simulated run lasts, `Date`, timers, `Math.random`, `fetch` and
 * their kin throw where they are called, and the call is noted with its caller: it makes the run fail, also where whoever
 * called swallowed the throw.
 *
 * Not promised: that a copy of such a function, taken before the run began, is caught.
 */
// oxlint-disable no-restricted-globals -- what is forbidden everywhere is what is trapped here

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

/** XState notes when a delayed event was scheduled; nothing reads that where the actor has a clock. */
const harmless = /[/\\]xstate[/\\]/

type Slot = { readonly holder: object; readonly name: string; readonly what: string }

const slots: readonly Slot[] = [
  ...["setTimeout", "setInterval", "setImmediate", "fetch"].map((name) => ({
    holder: globalThis,
    name,
    what: `${name}()`,
  })),
  { holder: Math, name: "random", what: "Math.random()" },
  { holder: performance, name: "now", what: "performance.now()" },
  { holder: crypto, name: "randomUUID", what: "crypto.randomUUID()" },
  { holder: crypto, name: "getRandomValues", what: "crypto.getRandomValues()" },
  { holder: crypto.subtle, name: "digest", what: "crypto.subtle.digest()" },
  { holder: AbortSignal, name: "timeout", what: "AbortSignal.timeout()" },
]

/** Sets all traps. */
export function setTraps(): Traps {
  const calls: TrappedCall[] = []
  const trapped = (what: string): number => {
    const error = new TrappedCallError(
      `${what} was called in a simulated run: take time and chance from the context's clock`,
    )
    const caller = callerIn(error)
    if (harmless.test(caller)) return 0
    calls.push({ what, caller })
    throw error
  }
  const undo = slots.map(({ holder, name, what }) => replace(holder, name, () => trapped(what)))
  undo.push(replace(globalThis, "Date", trappedDate(trapped)))
  return {
    calls,
    [Symbol.dispose]: () => {
      for (const restore of undo) restore()
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
function trappedDate(trapped: (what: string) => number): DateConstructor {
  return new Proxy(Date, {
    apply: () => trapped("Date()"),
    construct: (target, args: unknown[], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [trapped("new Date()")] : args, newTarget) as object,
    get: (target, name, receiver) =>
      name === "now" ? () => trapped("Date.now()") : (Reflect.get(target, name, receiver) as unknown),
  })
}

function callerIn(error: Error): string {
  const lines = (error.stack ?? "").split("\n").slice(1)
  const own = /[/\\]testing[/\\]simulate[/\\]traps\.[jt]s/
  return (lines.find((line) => !own.test(line)) ?? "an unknown place").trim().replace(/^at /, "")
}
