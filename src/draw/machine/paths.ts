/** How a state is named by its place: what drawings, their readers, and the live page have in common. Pure. */

/**
 * The path of these keys, from the root down: joined by dots. Dots and backslashes within a key are escaped, and an
 * empty key is `\0`, so that no two states have one path. The empty path is the root's.
 */
export const pathFrom = (keys: readonly string[]): string =>
  keys.map((key) => (key === "" ? "\\0" : key.replaceAll(/[\\.]/g, "\\$&"))).join(".")

/** The paths of all states that a state value of any machine names: each on the way down. */
export function pathsIn(value: unknown): ReadonlySet<string> {
  const paths = new Set<string>()
  const walk = (part: unknown, keys: readonly string[]): void => {
    if (typeof part === "string") paths.add(pathFrom([...keys, part]))
    if (typeof part !== "object" || part === null) return
    for (const [name, inner] of Object.entries(part)) {
      const below = [...keys, name]
      paths.add(pathFrom(below))
      walk(inner, below)
    }
  }
  walk(value, [])
  return paths
}
