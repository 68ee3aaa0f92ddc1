/** The options of a provider's calls, checked: an option that isn't read would silently become a default. */
import { type OptionChecks, refusal, refuseUnknown, shown } from "../../runtime/input/options.ts"
import type { ProviderOptions, Section } from "../api/provider.ts"
import { ACQUIRE_OPTIONS, type AcquireSettings, acquireSettings } from "../engine/options.ts"

const { timeout, timeoutSource, signal, observer } = ACQUIRE_OPTIONS
const CALL_OPTIONS: OptionChecks<ProviderOptions> = { timeout, timeoutSource, signal, observer }

/** A call's options, as far as a provider has them. Throws InvalidConfigError. */
export function callSettings(options: ProviderOptions): AcquireSettings {
  refuseUnknown("a lock provider's calls", options, CALL_OPTIONS)
  return acquireSettings(options)
}

/** Refuses what is no function, before anything is acquired for it. */
export function checkSection(fn: (section: Section) => unknown): void {
  if (typeof fn === "function") return
  throw refusal(
    `The section is ${shown(fn)}, which is no function`,
    "Pass the function to run alone on the key, after the key",
  )
}
