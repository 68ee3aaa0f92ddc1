/**
 * Content objects: states too large for their head. Each is written once, under a name of its own, before any head
 * names it, and never changed. Owns their requests; which content may be deleted is the writer's to know.
 *
 * A delete names the generation. Content is also deleted where a store ignores that: a content name is never used
 * again, so a late or repeated delete meets this very content or nothing.
 */
import { ABSENT, type Generation, type ObjectStore, type WriteAnswer } from "../../../locks/stores/port.ts"
import { type Digest, matches, type NamedContent } from "../objects/digest.ts"
import { contentPrefix, contentRef, contentToken } from "../objects/names.ts"
import { pagesOf } from "../objects/pages.ts"
import { Again, insist, type Patience } from "../objects/patience.ts"
import { orFail, type StatePlace } from "../objects/problems.ts"

const requestMs = 10_000
const mebibyte = 1024 * 1024

/** What became of a download. */
export type Fetched = { readonly kind: "bytes"; readonly bytes: Uint8Array } | { readonly kind: "missing" | "wrong" }

/** Downloads a content object and checks its bytes. Rejects as `readHead` does. */
export async function fetchContent(
  store: ObjectStore,
  place: StatePlace,
  content: NamedContent,
  patience: Patience,
): Promise<Fetched> {
  const fetched = await insist<Fetched>(patience, timeFor(content.bytes), async (request) => {
    const answer = await store.read(contentRef(place.lockKey, content.content), { ...request, limit: content.bytes })
    switch (answer.kind) {
      case "found":
        return matches(content, answer.body) ? { kind: "bytes", bytes: answer.body } : { kind: "wrong" }
      case "absent":
        return { kind: "missing" }
      case "tooLarge":
      case "unchanged":
        return { kind: "wrong" }
      case "failed":
        if (!answer.error.retryable) throw answer.error
        return new Again(answer.error)
    }
  })
  return fetched instanceof Again ? orFail(fetched, place, "Reading the content", patience.signal) : fetched
}

/**
 * Uploads a content object, create-only. `freshName` is called for each name it tries; whatever was sent under a name
 * may arrive later, also after a failure. Rejects with StoreUnavailableError, or LockCancelledError when the signal
 * aborts.
 */
export async function storeContent(
  store: ObjectStore,
  place: StatePlace,
  bytes: Uint8Array,
  digest: Digest,
  freshName: () => string,
  patience: Patience,
): Promise<{ readonly content: NamedContent; readonly generation: Generation }> {
  let content: NamedContent = { content: freshName(), ...digest }
  const stored = await insist<Generation>(patience, timeFor(bytes.byteLength), async (request) => {
    const ref = contentRef(place.lockKey, content.content)
    const answer = await store.put(ref, ABSENT, bytes, request)
    if (answer.kind === "applied") return answer.generation
    if (answer.kind === "unknown") return new Again(answer.error)
    // Something has this name. An earlier copy of this upload, or else the name wasn't fresh.
    const there = await store.read(ref, { ...request, limit: bytes.byteLength })
    if (there.kind === "found" && matches(content, there.body)) return there.generation
    if (there.kind === "found" || there.kind === "tooLarge") content = { ...content, content: freshName() }
    return new Again(there.kind === "failed" ? there.error : undefined)
  })
  if (stored instanceof Again) return orFail(stored, place, "Writing the content", patience.signal)
  return { content, generation: stored }
}

/** Deletes a content object; without its generation, that is looked up. True when it is known to be gone. */
export async function removeContent(
  store: ObjectStore,
  place: StatePlace,
  content: string,
  known: Generation | undefined,
  patience: Patience,
): Promise<boolean> {
  const ref = contentRef(place.lockKey, content)
  const generation = known ?? (await generationOf(store, place, ref.name, patience))
  if (generation === undefined) return true
  const answer = await insist<WriteAnswer>(patience, requestMs, async (request) => {
    const removed = await store.remove(ref, generation, request)
    return removed.kind === "unknown" ? new Again(removed.error) : removed
  })
  return !(answer instanceof Again)
}

/** All content objects of a sandbox. Rejects as `pagesOf` does. */
export async function* listContents(
  store: ObjectStore,
  place: StatePlace,
  patience: Patience,
): AsyncGenerator<{ readonly content: string; readonly token: number; readonly generation: Generation }> {
  const prefix = contentPrefix(place.lockKey)
  for await (const items of pagesOf(store, prefix, place, () => patience)) {
    for (const { name, generation } of items) {
      const content = name.slice(prefix.length)
      const token = contentToken(content)
      if (token !== undefined) yield { content, token, generation }
    }
  }
}

async function generationOf(
  store: ObjectStore,
  place: StatePlace,
  name: string,
  patience: Patience,
): Promise<Generation | undefined> {
  for await (const items of pagesOf(store, name, place, () => patience)) {
    const found = items.find((item) => item.name === name)
    if (found !== undefined) return found.generation
  }
  return undefined
}

/** A slow network still moves a mebibyte a second. */
const timeFor = (bytes: number): number => requestMs + (bytes / mebibyte) * 1000
