/** Hears of new versions of an object: an event for each in its directory, where the file system of this machine tells. */
import { basename } from "node:path"
import { watchPath } from "../../../runtime/machine/watch-path.ts"
import type { Generation, Watching } from "../port.ts"
import { versionNumber } from "./objects/layout.ts"

/**
 * How many watches one process takes. Whoever gets none looks from time to time. Node has all of them in one instance of
 * inotify, of which Linux allows a user 128 by default; each watch of Deno is an instance.
 */
const MOST = "Deno" in globalThis ? 32 : 1000

let watches = 0

/**
 * Calls `wake` for each new version, once, with its generation; without one when it hears no more. Watches nothing where the directory
 * is missing.
 */
export function watchVersions(directory: string, wake: (generation?: Generation) => void): Watching {
  const own = basename(directory)
  let newest = 0
  const heard = (name: string): void => {
    // The watch has ended, or its directory was removed: what is there by now is watched by nobody.
    if (name === own || watch?.hears === false) return deaf()
    const number = versionNumber(name) ?? 0
    // That older ones are cleared away is heard of too.
    if (number <= newest) return
    newest = number
    wake(String(number))
  }
  const deaf = (): void => {
    end()
    wake()
  }
  const end = (): void => {
    if (watch === undefined) return
    watches--
    watch[Symbol.dispose]()
    watch = undefined
  }
  let watch = watches < MOST ? watchPath(directory, heard) : undefined
  if (watch !== undefined) watches++
  return {
    get hears() {
      return watch?.hears === true
    },
    [Symbol.dispose]: end,
  }
}
