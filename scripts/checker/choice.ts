/**
 * Which searches `npm run checker` makes: by the names of their lines in docs/checked.md, that of the least guard too.
 */
import { configurations, larger } from "../../src/testing/check/configurations.ts"
import { GUARD } from "./page.ts"

/** What was asked for. */
export interface Asked {
  readonly config?: readonly string[] | undefined
  readonly large: boolean
}

const small = [...Object.keys(configurations), GUARD]
const large = Object.keys(larger)

/** Every search that there is. */
export const all: readonly string[] = [...small, ...large]

/** The names of the searches that were asked for; not all of them need be there. */
export const chosen = (asked: Asked): readonly string[] => asked.config ?? (asked.large ? large : small)
