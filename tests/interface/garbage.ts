/**
 * What callers without types pass, and how a public call has to take it: as a typed error that says what to do next, or
 * as an argument that means something. Owns the walk; which calls there are is in `calls.ts`.
 */
import { expect } from "vitest"
import { LockError } from "../../src/mod.ts"
import { shown } from "../../src/runtime/input/options.ts"

/** One argument of a call. */
export interface Argument {
  /** Makes one that is right. */
  readonly good: () => unknown
  /** Which garbage it means something by: nothing is asserted of that. */
  readonly takes: (garbage: unknown) => boolean
  /** It is an object of options: each of them is tried too. */
  readonly isOptions?: boolean
  /** The options that may be null. */
  readonly nullable?: readonly string[]
}

/** A wrong call: what is wrong with it, and all that it is given. */
interface Wrong {
  readonly what: string
  readonly args: readonly unknown[]
}

const garbage: readonly unknown[] = [undefined, null, 1, NaN, "", {}, [], Symbol("garbage"), () => {}]

/** Everything that can be given wrongly to a call, one wrong thing at a time. */
export function* wrongCalls(args: readonly Argument[]): Generator<Wrong> {
  for (const [at, { takes, isOptions }] of args.entries()) {
    for (const value of garbage)
      if (!takes(value)) yield { what: `argument ${at}: ${shown(value)}`, args: goodArgs(args).with(at, value) }
    if (isOptions === true)
      yield { what: `argument ${at}: an unknown option`, args: withOption(args, at, "durabel", true) }
  }
}

/** The same for each option of a call. An option that is undefined counts as absent; none can be null. */
export function* wrongOptions(args: readonly Argument[], at: number, names: readonly string[]): Generator<Wrong> {
  const { nullable = [] } = args[at]!
  for (const name of names) {
    for (const value of [null, Symbol("garbage")])
      if (value !== null || !nullable.includes(name))
        yield { what: `option ${name}: ${shown(value)}`, args: withOption(args, at, name, value) }
  }
}

const goodArgs = (args: readonly Argument[]): readonly unknown[] => args.map((each) => each.good())

/** Good arguments, but for one option. */
export function withOption(args: readonly Argument[], at: number, name: string, value: unknown): readonly unknown[] {
  const given = goodArgs(args)
  return given.with(at, { ...(given[at] as object), [name]: value })
}

/** What a call comes to: what it throws, rejects with, or throws at the first step of what it gives. */
export async function outcome(call: () => unknown): Promise<unknown> {
  try {
    const result: unknown = await call()
    if (typeof result === "object" && result !== null && Symbol.asyncIterator in result)
      await (result as AsyncIterable<unknown>)[Symbol.asyncIterator]().next()
    return "it took it"
  } catch (error) {
    return error
  }
}

/** Which options there are, as the refusal of one that isn't tells. */
export function optionsIn(refusal: unknown): readonly string[] {
  expect(refusal).toBeInstanceOf(LockError)
  const { next } = refusal as LockError
  expect(next).toMatch(/^Use some of [\w, ]+$/)
  return next.slice("Use some of ".length).split(", ")
}
