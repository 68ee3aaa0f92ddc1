// Checks what several processes did to one counter by compare-and-swap, from the logs that they wrote around each step.
// Each write carries the operation it replaced, so that the last value tells the whole chain of writes that counted.
// A killed process leaves a try without an outcome: it may be in the chain or not.

/** One line of a process's log. `op` names a write, `-` is the value before the first. */
export type Entry =
  | { readonly type: "read"; readonly generation: number; readonly op: string }
  /** Written before the put is sent: built on `base`, whose value was `previous`. */
  | { readonly type: "try"; readonly op: string; readonly base: number; readonly previous: string }
  | { readonly type: "applied"; readonly op: string; readonly generation: number }
  | { readonly type: "refused" | "unknown"; readonly op: string }

type Try = Extract<Entry, { type: "try" }>

/** The value at the end, read when nobody wrote any more. */
export interface Final {
  readonly generation: number
  readonly op: string
}

/** What is wrong, a line each. `logs` has one list for each process. */
export function violations(logs: readonly (readonly Entry[])[], final: Final): string[] {
  const tries = new Map<string, Try>()
  for (const entry of logs.flat()) if (entry.type === "try") tries.set(entry.op, entry)
  const { chain, broken } = chainOf(tries, final)
  return [...broken, ...twice(logs.flat()), ...logs.flatMap((log) => [...wrong(log, chain), ...backwards(log)])]
}

/** The operation of each generation, from the last back to the first. */
function chainOf(tries: ReadonlyMap<string, Try>, final: Final): { chain: string[]; broken: string[] } {
  const chain: string[] = []
  let { op, generation } = final
  for (; op !== "-"; generation--) {
    const tried = tries.get(op)
    if (tried === undefined) return { chain, broken: [`generation ${generation} holds ${op}, which nobody wrote`] }
    if (tried.base !== generation - 1)
      return { chain, broken: [`generation ${generation} holds ${op}, which was built on generation ${tried.base}`] }
    chain[generation] = op
    op = tried.previous
  }
  return { chain, broken: generation === 0 ? [] : [`the chain ends at generation ${generation}`] }
}

/** Two writes that were both acknowledged for one generation. */
function twice(entries: readonly Entry[]): string[] {
  const owners = new Map<number, string>()
  return entries.flatMap((entry) => {
    if (entry.type !== "applied") return []
    const other = owners.get(entry.generation)
    owners.set(entry.generation, entry.op)
    return other === undefined ? [] : [`generation ${entry.generation} was acknowledged to ${other} and to ${entry.op}`]
  })
}

/** Acknowledged and lost, refused and applied, or read although it never counted. */
function wrong(log: readonly Entry[], chain: readonly string[]): string[] {
  const counted = new Set(chain)
  return log.flatMap((entry) => {
    if (entry.type === "applied" && chain[entry.generation] !== entry.op)
      return [`${entry.op} was acknowledged as generation ${entry.generation} and lost`]
    if (entry.type === "refused" && counted.has(entry.op)) return [`${entry.op} was refused and applied`]
    if (entry.type === "read" && (chain[entry.generation] ?? "-") !== entry.op)
      return [`generation ${entry.generation} was read as ${entry.op}, which it never was`]
    return []
  })
}

/** A process that was shown an older version than one it had seen or written. */
function backwards(log: readonly Entry[]): string[] {
  let seen = 0
  return log.flatMap((entry) => {
    if (entry.type !== "read" && entry.type !== "applied") return []
    const before = seen
    seen = Math.max(seen, entry.generation)
    return entry.generation < before ? [`generation ${entry.generation} was read after ${before}`] : []
  })
}
