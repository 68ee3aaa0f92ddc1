/** Which file system a path is on, by the kernel's list of mounts as `/proc/<pid>/mountinfo` has it. */

/** The mount point among the fields before ` - `, and the file system's type among those after it. */
const [POINT_FIELD, TYPE_FIELD] = [4, 0]

/**
 * The type of the file system that an absolute path without links leads to, such as `proc`; undefined where none is
 * listed.
 */
export function fileSystemOf(mountinfo: string, path: string): string | undefined {
  let [longest, type]: [number, string | undefined] = [-1, undefined]
  for (const line of mountinfo.split("\n")) {
    const [mount = "", source = ""] = line.split(" - ")
    const point = unescaped(mount.split(" ")[POINT_FIELD] ?? "")
    // Of two on one point the later one hides the earlier.
    if (point === "" || !isWithin(path, point) || point.length < longest) continue
    longest = point.length
    type = source.split(" ")[TYPE_FIELD]
  }
  return type
}

const isWithin = (path: string, point: string): boolean =>
  path === point || path.startsWith(point.endsWith("/") ? point : `${point}/`)

/** Spaces, tabs, line breaks and backslashes are listed in octal. */
const unescaped = (name: string): string =>
  name.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
