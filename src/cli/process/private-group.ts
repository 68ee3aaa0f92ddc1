/**
 * Whether a group has one member only, as useradd makes one for each user. Its number or its name is the user's, and
 * the system's files list no other member. (The numbers differ once a group was added by itself.)
 *
 * Not promised: anything about members in a directory service. To ask one may take long.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** `etc`: where the files are. */
export function isPrivate(gid: number, user: number, etc = "/etc"): boolean {
  const [name] = entry(join(etc, "passwd"), user) ?? []
  const [group, , , members = ""] = entry(join(etc, "group"), gid) ?? []
  const isNamed = gid === user || (group !== undefined && group === name)
  return isNamed && members.split(",").every((member) => member === "" || member === name)
}

/** The line of that number. A file that can't be read has none: in containers, and by Deno. */
function entry(file: string, number: number): readonly string[] | undefined {
  try {
    const line = new RegExp(`^[^:\n]*:[^:\n]*:${number}:.*$`, "m").exec(readFileSync(file, "utf8"))
    return line?.[0].split(":")
  } catch {
    return undefined
  }
}
