/**
 * The compiled code that Node keeps between runs, which saves a quarter of the command's start. Another user who could
 * write it could run code in this process. So it is kept in a directory that only this user can read, or not at all.
 *
 * Not promised: anything if NODE_COMPILE_CACHE is set. Node reads that before the command begins, as it does
 * NODE_OPTIONS.
 */
import { existsSync, lstatSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { homeFolder } from "./here.ts"
import { makePrivate } from "./strangers.ts"
import { userFolder } from "./user-folder.ts"

/** Of no use on Deno, which keeps compiled code by itself. */
export function keepCompiledCode(): void {
  const { enableCompileCache } = process.getBuiltinModule("node:module")
  if (enableCompileCache === undefined) return
  const { env, platform } = process
  const home = homeFolder(homedir)
  // A home directory is the system's to make: users of services have one that is never there.
  const folder = userFolder({ env, platform, home: home !== undefined && existsSync(home) ? home : undefined }, "cache")
  if (folder === undefined || folder.includes("\uFFFD")) return // its bytes are no UTF-8: it would be another
  const directory = join(folder, "compiled")
  if (isPrivate(directory)) enableCompileCache(directory)
}

/** A directory that can't be made is none. */
function isPrivate(directory: string): boolean {
  try {
    if (makePrivate(directory) !== undefined) return false
    return process.platform === "win32" || (lstatSync(directory).mode & 0o077) === 0
  } catch {
    return false
  }
}
