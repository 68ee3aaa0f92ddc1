/** A call on the library as lines of a trace, where somebody reads them. */
import type { CallDetail, Ends, LinesOf } from "./worker-lines.ts"

/** Makes a call, and tells of it where somebody reads. Settles as it does. */
export function traced<A>({ lines }: LinesOf, asked: () => CallDetail, make: () => Promise<A>): Promise<A> {
  return lines === undefined ? make() : told(lines.called(asked()), make)
}

async function told<A>(ends: Ends, make: () => Promise<A>): Promise<A> {
  try {
    const result = await make()
    ends()
    return result
  } catch (error) {
    ends({ error })
    throw error
  }
}
