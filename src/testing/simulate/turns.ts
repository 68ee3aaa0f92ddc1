/**
 * Turns of simulations. The traps of a run are the whole process's, so simulations run one after the other, in the
 * order of their calls. One that rejects keeps none from its turn.
 *
 * Not promised: anything between threads or processes, which share no traps.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { InvalidConfigError } from "../../locks/api/errors.ts"

/** Whose turn it is, as seen from inside of it. */
const within = new AsyncLocalStorage<object>()
let present: object | undefined
let last: Promise<unknown> = Promise.resolve()

/**
 * Runs this when all that were asked for before have settled, and settles as it does. Rejects with InvalidConfigError
 * from inside a turn, which would wait for its own end.
 */
export async function inTurn<A>(run: () => Promise<A>): Promise<A> {
  if (present !== undefined && within.getStore() === present)
    throw new InvalidConfigError({
      message: "simulate was called inside a simulation, for whose end it would wait",
      next: "Call it before or afterwards",
    })
  const mine = last.then(() => turn(run))
  last = mine.catch(() => {}) // whoever asked for it hears of it
  return mine
}

async function turn<A>(run: () => Promise<A>): Promise<A> {
  const own = {}
  present = own
  try {
    return await within.run(own, run)
  } finally {
    present = undefined
  }
}
