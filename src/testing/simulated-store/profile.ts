/** What a simulated store is like when nothing goes wrong: what it can do, how long it takes, how it names versions. */
import type { Generation, StoreCapabilities } from "../../locks/stores/port.ts"
import type { Chance } from "./chance.ts"

/** The name of a profile. */
export type StoreProfileName = "gcs" | "memory" | "exact" | "clockless" | "file" | "keeps"

/** A kind of store. */
export interface StoreProfile {
  readonly capabilities: StoreCapabilities
  /**
   * Its time is that of a machine's boot, by which each of its processes stamps what it is answered: two boots don't
   * agree, and a machine whose boot clock can't be read has none.
   */
  readonly isOfBoots?: true
  /**
   * What a request takes on one way, in milliseconds: half of them less than the first, nearly all less than the
   * second.
   */
  readonly latency: readonly [usual: number, seldom: number]
}

const remote: StoreCapabilities = {
  clock: "exact",
  sameClock: false,
  deletes: true,
  cheapReads: false,
  writeSpacing: 0,
}

/** Every kind by its name. */
export const storeProfiles: Readonly<Record<StoreProfileName, StoreProfile>> = {
  /** As Google Cloud Storage: time in whole seconds, one write a second for an object. */
  gcs: { capabilities: { ...remote, clock: "coarse", writeSpacing: 1000 }, latency: [25, 150] },
  /** As the store in memory. */
  memory: { capabilities: { ...remote, sameClock: true, cheapReads: true }, latency: [0, 1] },
  /** Somewhere else, with an exact clock and no limits. */
  exact: { capabilities: remote, latency: [10, 80] },
  /** Its answers carry no time at all. */
  clockless: { capabilities: { ...remote, clock: "none" }, latency: [10, 80] },
  /** As a directory that several machines share. */
  file: { capabilities: { ...remote, sameClock: true, cheapReads: true }, isOfBoots: true, latency: [1, 20] },
  /** Its deletes honour no precondition, so that nobody deletes there. */
  keeps: { capabilities: { ...remote, clock: "coarse", deletes: false, writeSpacing: 1000 }, latency: [25, 150] },
}

/** How versions are named: by few digits, by thirteen (as a time in milliseconds), by ever lower numbers, at random. */
export type GenerationStyle = "short" | "long" | "falling" | "random"

/** Every style. */
export const generationStyles: readonly GenerationStyle[] = ["short", "long", "falling", "random"]

/** The name of a store's n-th version, which no other ever has. */
export function generationOf(style: GenerationStyle, n: number, chance: Chance): Generation {
  switch (style) {
    case "short":
      return String(n)
    case "long":
      return String(1_700_000_000_000 + n * 1009)
    case "falling":
      return String(9_999_999 - n)
    case "random":
      return `${1 + Math.floor(chance.next() * 9e9)}${String(n).padStart(6, "0")}`
  }
}

/** How long one way of a request takes. */
export function latencyOf({ latency: [usual, seldom] }: StoreProfile, chance: Chance): number {
  const luck = chance.next()
  if (luck < 0.8) return Math.round(usual * (0.5 + luck))
  return Math.round(usual + (seldom - usual) * (luck - 0.8) * 5 * chance.next())
}
