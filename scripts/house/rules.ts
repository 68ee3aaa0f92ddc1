/**
 * What the house check asks of folders and files, as pure functions: a tree of texts in, sentences of what is wrong
 * out. Owns how the house is built and how a file begins. What the linter can tell is the linter's.
 */
import { posix } from "node:path"

/** All files, by their path from the root. */
export type Tree = ReadonlyMap<string, string>

/** The folders of src from the ground up, each with what it owns. */
export type Rooms = Readonly<Record<string, string>>

/** In files side by side: as many as a reader takes in at once. */
const MOST_FILES = 12

/** In columns, as the formatter has it for code. */
const WIDEST = 120

/** Every import, export and dynamic import of a file of the project, also of types alone. */
const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g

const isSource = (path: string): boolean => path.startsWith("src/")
const isTypeScript = (path: string): boolean => path.endsWith(".ts")

/** Imports of a file of src from a room above its own. */
export function upwardImports(tree: Tree, rooms: Rooms): readonly string[] {
  const heights = new Map(Object.keys(rooms).map((path, height) => [path, height]))
  const heightOf = (path: string): number => heights.get(posix.dirname(path)) ?? -1
  return sources(tree).flatMap(([path, text]) =>
    importsOf(path, text)
      .filter((target) => heightOf(target) > heightOf(path))
      .map((target) => `${path} imports ${target}, which is above it`),
  )
}

/** Files of src that import each other, also around more corners: one line for each circle. */
export function circles(tree: Tree): readonly string[] {
  const graph = new Map(sources(tree).map(([path, text]) => [path, importsOf(path, text)]))
  const ways: (readonly string[])[] = []
  for (const path of [...graph.keys()].toSorted()) {
    if (ways.some((way) => way.includes(path))) continue
    const way = wayBack(graph, path)
    if (way !== undefined) ways.push(way)
  }
  return ways.map((way) => `${way.join(" -> ")} is a circle`)
}

/** The shortest way from a file to itself. */
function wayBack(graph: ReadonlyMap<string, readonly string[]>, start: string): readonly string[] | undefined {
  const seen = new Set<string>()
  const ways: (readonly string[])[] = [[start]]
  for (const way of ways) {
    for (const next of graph.get(way.at(-1)!) ?? []) {
      if (next === start) return [...way, next]
      if (!seen.has(next)) ways.push([...way, next])
      seen.add(next)
    }
  }
  return undefined
}

/** Folders of src that no room stands for, and rooms without a folder. */
export function wrongRooms(tree: Tree, rooms: Rooms): readonly string[] {
  const folders = new Set(sources(tree).map(([path]) => posix.dirname(path)))
  return [
    ...[...folders].filter((path) => !(path in rooms)).map((path) => `${path} is not in the list of rooms`),
    ...Object.keys(rooms)
      .filter((path) => !folders.has(path))
      .map((path) => `${path} is in the list of rooms, and isn't there`),
  ]
}

/** Rooms with more files side by side than a reader takes in. */
export function fullRooms(tree: Tree): readonly string[] {
  const counts = new Map<string, number>()
  for (const [path] of sources(tree)) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1)
  return [...counts]
    .filter(([, count]) => count > MOST_FILES)
    .map(([path, count]) => `${path} has ${count} files: ${MOST_FILES} at most`)
}

/** Files of src without an opening comment, and any file whose opening comment stands behind an import. */
export function misplacedHeaders(tree: Tree): readonly string[] {
  return [...tree].flatMap(([path, text]) => {
    if (!isTypeScript(path) || /^(#!.*\n)?\/[/*]/.test(text)) return []
    const imports = text.slice(0, text.lastIndexOf("\nimport ") + 1)
    if (/^\/[/*]/m.test(imports)) return [`${path}: its opening comment stands behind an import`]
    return isSource(path) ? [`${path} has no opening comment`] : []
  })
}

/** Lines of comments that are wider than code may be: the formatter leaves these alone. */
export function wideComments(tree: Tree): readonly string[] {
  return [...tree].flatMap(([path, text]) =>
    isTypeScript(path)
      ? text
          .split("\n")
          .flatMap((line, index) => (isWideComment(line) ? [`${path}:${index + 1} is ${line.length} wide`] : []))
      : [],
  )
}

const isWideComment = (line: string): boolean =>
  line.length > WIDEST && (/^\s*(\/\/|\/?\*)/.test(line) || /\s\/\/ [^"'`]*$/.test(line))

const sources = (tree: Tree): readonly (readonly [path: string, text: string])[] =>
  [...tree].filter(([path]) => isSource(path))

const importsOf = (path: string, text: string): readonly string[] =>
  Array.from(text.matchAll(IMPORT), ([, target = ""]) => posix.join(posix.dirname(path), target))
