// Short ways to write and read the objects of a store, for tests of what a store adds to the contract.
import { type Area, type Generation, type ObjectRef, type ObjectStore } from "../../src/locks/stores/port.ts"

const options = { deadline: 5000 }
const limit = 65_536

export const bytes = (body: string): Uint8Array => new TextEncoder().encode(body)

/** A put that must be applied. */
export async function write(
  store: ObjectStore,
  ref: ObjectRef,
  expected: Generation,
  body: string,
): Promise<Generation> {
  const answer = await store.put(ref, expected, bytes(body), options)
  if (answer.kind !== "applied") throw new Error(`the put was ${answer.kind}`, { cause: answer })
  return answer.generation
}

/** The text of an object, or the kind of the answer where there is none. */
export async function text(store: ObjectStore, ref: ObjectRef): Promise<string> {
  const answer = await store.read(ref, { ...options, limit })
  return answer.kind === "found" ? new TextDecoder().decode(answer.body) : answer.kind
}

/** All names of an area, page by page. */
export async function names(store: ObjectStore, area: Area, prefix: string): Promise<string[]> {
  const found: string[] = []
  let after: string | undefined
  do {
    const page = await store.list(area, { ...options, prefix, ...(after === undefined ? {} : { after }) })
    found.push(...page.items.map((item) => item.name))
    after = page.next
  } while (after !== undefined)
  return found
}
