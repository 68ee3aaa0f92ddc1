/**
 * elkjs, which says where everything stands. It is loaded when the first drawing asks for it: a megabyte that nothing
 * else needs, and a package that is installed by who wants SVG drawings.
 */
import type { ELK, ElkNode } from "elkjs"
import { InvalidConfigError } from "../../runtime/errors.ts"

let loaded: Promise<ELK> | undefined

/** Lays a graph out. Rejects with InvalidConfigError where elkjs isn't installed, or fails on the graph. */
export async function layOut(graph: ElkNode): Promise<ElkNode> {
  loaded ??= load()
  const elk = await loaded.catch((error: unknown) => {
    loaded = undefined // it may be installed by the next time
    throw error
  })
  return elk.layout(graph).catch((cause: unknown) => {
    throw new InvalidConfigError({
      message: "elkjs can't lay the machine out",
      next: "Draw it with toMermaid or toAscii, and report the machine to leasehold",
      cause,
    })
  })
}

async function load(): Promise<ELK> {
  const before = Object.getOwnPropertyDescriptor(globalThis, "onmessage")
  try {
    const { default: module } = await import("elkjs")
    return new module.default()
  } catch (cause) {
    throw new InvalidConfigError({
      message: "An SVG drawing needs the package elkjs, which can't be loaded",
      next: "Install it: npm install elkjs@^0.12.1. Mermaid and ASCII drawings need no package",
      cause,
    })
  } finally {
    restore(before)
  }
}

/** Where there is a `self`, as on Deno, elkjs takes itself for a worker and listens to the messages of the program. */
function restore(before: PropertyDescriptor | undefined): void {
  if (before !== undefined) Object.defineProperty(globalThis, "onmessage", before)
  else if ("onmessage" in globalThis) Reflect.deleteProperty(globalThis, "onmessage")
}
