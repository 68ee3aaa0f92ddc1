// Ways to be wrong, each a change of the memory store, for the table in sabotage.ts.
import {
  ABSENT,
  type Generation,
  type ObjectRef,
  type ObjectStore,
  type ReadAnswer,
  type ReadOptions,
  type StoreCapabilities,
} from "../../../src/locks/stores/port.ts"
import type { Clock } from "../../../src/runtime/time/clock.ts"

/** What a sabotage has to work with: the store as it should be, which all store objects of the place share. */
export interface Scene {
  readonly real: ObjectStore
  readonly clock: Clock
  /** How many store objects the place had before this one. */
  readonly number: number
  /** Whether the suite silenced the place. */
  readonly silent: () => boolean
}

export type Sabotage = (scene: Scene) => Partial<ObjectStore>

export const options: ReadOptions = { deadline: 1000, limit: 1_048_576 }
export const never = <A>(): Promise<A> => new Promise<A>(() => {})
export const turn = (clock: Clock): Promise<void> => new Promise((settle) => clock.soon(settle))
const address = ({ area, name }: ObjectRef): string => `${area}/${name}`

export async function current(real: ObjectStore, ref: ObjectRef): Promise<Generation> {
  const answer = await real.read(ref, options)
  return "generation" in answer ? answer.generation : ABSENT
}

/** Writes whatever is there, when `careless` says so. */
export function carelessPut(careless: (expected: Generation, there: Generation) => boolean): Sabotage {
  return ({ real }) => ({
    put: async (ref, expected, body) => {
      const there = await current(real, ref)
      return real.put(ref, careless(expected, there) ? there : expected, body, options)
    },
  })
}

/** Looks, and acts a turn later without looking again. */
export const lookThenAct =
  (applies: (expected: Generation) => boolean): Sabotage =>
  ({ real, clock }) => ({
    put: async (ref, expected, body) => {
      if (!applies(expected)) return real.put(ref, expected, body, options)
      if ((await current(real, ref)) !== expected) return { kind: "refused" }
      await turn(clock)
      return real.put(ref, await current(real, ref), body, options)
    },
  })

export const reads =
  (change: (answer: ReadAnswer, known: Generation | undefined) => ReadAnswer): Sabotage =>
  ({ real }) => ({ read: async (ref, asked) => change(await real.read(ref, asked), asked.known) })

export const capable =
  (wrong: Partial<StoreCapabilities>): Sabotage =>
  ({ real }) => ({ capabilities: { ...real.capabilities, ...wrong } })

/** Names objects by `rename`. */
export const renaming =
  (rename: (ref: ObjectRef) => ObjectRef): Sabotage =>
  ({ real }) => ({
    read: (ref, asked) => real.read(rename(ref), asked),
    put: (ref, expected, body, asked) => real.put(rename(ref), expected, body, asked),
  })

/** Counts the versions of each object anew after a delete. */
export const countsAnew: Sabotage = ({ real }) => {
  const counts = new Map<string, number>()
  const shown = (ref: ObjectRef): Generation => String(counts.get(address(ref)) ?? ABSENT)
  return {
    read: async (ref, asked) => {
      const answer = await real.read(ref, asked)
      return "generation" in answer ? { ...answer, generation: shown(ref) } : answer
    },
    put: async (ref, expected, body) => {
      if (expected !== shown(ref)) return { kind: "refused" }
      await real.put(ref, await current(real, ref), body, options)
      counts.set(address(ref), Number(shown(ref)) + 1)
      return { kind: "applied", generation: shown(ref) }
    },
    remove: async (ref, expected) => {
      if (expected === ABSENT || expected !== shown(ref)) return { kind: "refused" }
      await real.remove(ref, await current(real, ref), options)
      counts.delete(address(ref))
      return { kind: "applied", generation: expected }
    },
  }
}

/** Answers a read with what it answered before. */
export const cached: Sabotage = ({ real }) => {
  const before = new Map<string, ReadAnswer>()
  return {
    read: async (ref, asked) => {
      const answer = await real.read(ref, asked)
      const stale = before.get(address(ref)) ?? answer
      before.set(address(ref), answer)
      return stale
    },
  }
}

/** Answers the body of one version with the generation of the version before it. */
export const torn: Sabotage = ({ real, clock }) => ({
  read: async (ref, asked) => {
    const first = await real.read(ref, asked)
    await turn(clock)
    const second = await real.read(ref, asked)
    return first.kind === "found" && second.kind === "found" ? { ...second, generation: first.generation } : second
  },
})

/** Hands out the array that it keeps. */
export const shares: Sabotage = ({ real }) => {
  const bodies = new Map<Generation, Uint8Array>()
  return {
    read: async (ref, asked) => {
      const answer = await real.read(ref, asked)
      if (answer.kind !== "found") return answer
      const body = bodies.get(answer.generation) ?? answer.body
      bodies.set(answer.generation, body)
      return { ...answer, body }
    },
  }
}

/** Compares with what this store object saw last, as if it were alone. */
export const comparesWithItsOwn: Sabotage = ({ real }) => {
  const seen = new Map<string, Generation>()
  return {
    read: async (ref, asked) => {
      const answer = await real.read(ref, asked)
      if ("generation" in answer) seen.set(address(ref), answer.generation)
      return answer
    },
    put: async (ref, expected, body) => {
      if (seen.get(address(ref)) !== expected) return real.put(ref, expected, body, options)
      for (;;) {
        const answer = await real.put(ref, await current(real, ref), body, options)
        if (answer.kind === "applied") return answer
      }
    },
  }
}

/** What a caller gave up arrives some turns later, over whatever is there. */
export const arrivesLate: Sabotage = ({ real, clock }) => ({
  put: async (ref, expected, body, asked) => {
    const answer = await real.put(ref, expected, body, asked)
    if (asked.signal === undefined) return answer
    void (async () => {
      for (let turns = 0; turns < 4; turns++) await turn(clock)
      await real.put(ref, await current(real, ref), body, options)
    })()
    return answer
  },
})
