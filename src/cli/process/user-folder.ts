/**
 * The folders of a user's own files: by the XDG variables, else below the home directory. Who else may write there is
 * not judged here (strangers.ts).
 */
import { isAbsolute, join } from "node:path"
import type { Io } from "./io.ts"

/** The variable of each kind, and the place below the home directory without it: in general, and on macOS. */
const PLACES = {
  cache: { variable: "XDG_CACHE_HOME", below: ".cache", darwin: "Library/Caches" },
  config: { variable: "XDG_CONFIG_HOME", below: ".config", darwin: ".config" },
  state: { variable: "XDG_STATE_HOME", below: ".local/state", darwin: "Library/Application Support" },
} as const

/** Leasehold's folder of that kind; undefined if no variable names one and the user has no home directory. */
export function userFolder(
  { env, home, platform }: Pick<Io, "env" | "home" | "platform">,
  kind: keyof typeof PLACES,
): string | undefined {
  const { variable, below, darwin } = PLACES[kind]
  const named = env[variable] ?? ""
  if (isAbsolute(named)) return join(named, "leasehold") // a relative one counts for none, as the XDG rules have it
  return home === undefined ? undefined : join(home, platform === "darwin" ? darwin : below, "leasehold")
}
