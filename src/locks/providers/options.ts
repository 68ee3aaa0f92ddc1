/** What a provider and its calls can be told, checked: an option that nobody reads would be a silent default. */
import { InvalidConfigError } from "../errors.ts"
import { refuseUnknown, type Wish, wishOf } from "../options.ts"
import type { ProviderOptions, Section } from "../provider.ts"

const CALL_OPTIONS: Readonly<Record<keyof ProviderOptions, true>> = {
  timeout: true,
  timeoutSource: true,
  signal: true,
  observer: true,
}

/** A call's options, as far as a provider has them. Throws InvalidConfigError. */
export function callWish(options: ProviderOptions): Wish {
  refuseUnknown("a lock provider's calls", options, CALL_OPTIONS)
  return wishOf(options)
}

/** Refuses what can't be run, before anything is acquired for it. */
export function checkSection(fn: (section: Section) => unknown): void {
  if (typeof fn === "function") return
  throw new InvalidConfigError({
    message: `The section is ${fn === null ? "null" : typeof fn}, which is no function`,
    next: "Pass the function to run alone on the key, after the key",
  })
}
