/**
 * Watches for new versions of an object: an event for each in its directory, where the file system of this machine
 * tells of it.
 */
import { basename } from "node:path"
import { watchPath } from "../../../runtime/machine/watch-path.ts"
import type { Generation, Watching } from "../port.ts"
import { versionNumber } from "./objects/layout.ts"

/**
 * The most watches of one process; without a watch, a lock looks from time to time. Linux allows a user 128 instances
 * of inotify by default. Node has all watches in one instance; each watch of Deno is an instance.
 */
const MOST = "Deno" in globalThis ? 32 : 1000

let watches = 0

/**
 * Calls `wake` once for each new version, with its generation, and without one when the watch has ended. Watches
 * nothing where the directory is missing.
 */
export function watchVersions(directory: string, wake: (generation?: Generation) => void): Watching {
  const own = basename(directory)
  let newest = 0
  const heard = (name: string): void => {
    // The watch has ended, or its directory was removed: a new directory isn't watched.
    if (name === own || watch?.hears === false) return deaf()
    const number = versionNumber(name) ?? 0
    // Older versions that are cleared away are events too.
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
