/**
 * One use of a running sandbox: its turn and its answer. It is answered only under a lease that stood to the end. A
 * durable use is answered only once its effect is stored.
 */
import { standing } from "../../locks/lock/lease-standing.ts"
import { orAbort, quiet } from "../../runtime/races.ts"
import { notDurable } from "../api/problems.ts"
import type { HookContext } from "../api/sandbox.ts"
import type { Activation } from "./activation.ts"
import type { CallWait } from "./waits.ts"

/** What a use does with the state. */
export type UseFn<A> = (state: unknown, context: HookContext) => A | Promise<A>

/** How to call it. */
export interface UseCall {
  /** Bounds everything before fn begins. */
  readonly wait: CallWait
  /** Aborts fn's signal. */
  readonly signal?: AbortSignal | undefined
  /** Asked when fn has ended. */
  readonly durable?: (() => boolean) | boolean | undefined
  /** Called when fn begins. */
  readonly onBegin?: (() => void) | undefined
}

interface Ran<A> {
  readonly value: A
  readonly stored: Promise<void> | undefined
}

/** Runs fn as one use; see `Sandbox.use` for what it settles with. */
export const use = async <A>(activation: Activation, fn: UseFn<A>, call: UseCall): Promise<A> => {
  const { lease, turns, commits } = activation
  const { wait, durable, signal } = call
  turns.refuseInside("use")
  if (turns.busy) {
    const known = wait.detail
    wait.detail = () => ({ ...known(), where: known().where ?? "another turn of it goes on in this process" })
    wait.mayWait()
  }
  let begun = false

  const inTurn = async (): Promise<Ran<A>> => {
    await wait.for(standing(lease))
    begun = true
    call.onBegin?.()
    const value = await activation.onState(fn, signal)
    // Asked for before the turn ends: a handoff that begins then still answers it by its last checkpoint.
    const isDurable = typeof durable === "function" ? durable() : durable === true
    return { value, stored: isDurable ? commits.request("durable") : undefined }
  }

  /** Settles as the turn does, or rejects as soon as the lease is lost. It answers only while the lease stands. */
  const answered = async (turn: Promise<Ran<A>>): Promise<Ran<A>> => {
    try {
      return await orAbort(turn, lease.signal)
    } finally {
      if (begun) await standing(lease)
    }
  }

  const { value, stored } = await answered(quiet(turns.run(inTurn, { from: "use", signal: wait.signal })))
  await stored?.catch((cause: unknown) => {
    throw notDurable(lease.key, cause)
  })
  return value
}
