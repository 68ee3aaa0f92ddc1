/** The states of a sandbox as people read them. Pure. */
import type { StateParts, TopState } from "../../live/model/states.ts"

/** What a state is called, and what it means. */
export interface StateWords {
  readonly name: string
  readonly meaning: string
}

/** By state. */
export const STATE_WORDS: Readonly<Record<TopState, StateWords>> = {
  acquiring: { name: "acquiring", meaning: "Asks the store for the lease" },
  waiting: { name: "waiting", meaning: "Another worker owns it, and knows that this one waits" },
  owning: { name: "owning", meaning: "Owned here: it may act" },
  handingOff: {
    name: "handing off",
    meaning: "On its way out: work ends, a checkpoint is saved, the lease is given up",
  },
  released: { name: "released", meaning: "No longer here" },
}

/** `owning · running`, with the lease where it isn't healthy. */
export function stateWords({ top, inner, work, lease }: StateParts): string {
  const { name } = STATE_WORDS[top]
  const words = [name, work ?? inner ?? "", lease === null || lease === "healthy" ? "" : lease]
  return words
    .filter((word) => word !== "" && word !== "watching")
    .map(spaced)
    .join(" · ")
}

/** `backingOff` as `backing off`. */
const spaced = (word: string): string => word.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
