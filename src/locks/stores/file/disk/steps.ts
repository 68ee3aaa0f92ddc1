/**
 * An algorithm on files as a generator of its operations. It is written once, and run in two ways: at once, where each
 * operation is a system call, or with the event loop in between, where operations wait for the disk.
 */
import type { Awaitable } from "./awaitable.ts"

/** Yields each operation, and is given its result. */
export type Steps<A> = Generator<Awaitable<unknown>, A, unknown>

/** One operation. */
export function* step<A>(operation: Awaitable<A>): Steps<A> {
  return (yield operation) as A
}

/** Runs to the end before it returns. Every operation must be synchronous. */
export function runNow<A>(steps: Steps<A>): A {
  let result = steps.next()
  while (result.done !== true) result = steps.next(result.value)
  return result.value
}

/** Runs to the end, waiting for each operation. */
export async function run<A>(steps: Steps<A>): Promise<A> {
  let result = steps.next()
  while (result.done !== true) {
    const settled = await settle(result.value)
    result = "error" in settled ? steps.throw(settled.error) : steps.next(settled.value)
  }
  return result.value
}

async function settle(operation: unknown): Promise<{ readonly value: unknown } | { readonly error: unknown }> {
  try {
    return { value: await operation }
  } catch (error) {
    return { error }
  }
}
