/**
 * Content objects: states too large for their head. Each is written once, under a name of its own, before any head names
 * it, and never changed. Owns their requests; which content may be deleted is the keeper's to know.
 *
 * A delete names the generation, but content is also deleted where a store ignores that: a content name is never used
 * again, so a late or repeated delete can't meet anything but this very content.
 */
import type { LockError } from "../../locks/errors.ts"
import { ABSENT, type Generation, type ObjectStore } from "../../locks/store.ts"
import { type Content, type Digest, matches } from "./head.ts"
import { contentPrefix, contentRef, contentToken } from "./names.ts"
import { insist, type Patience } from "./patience.ts"

const requestMs = 10_000
const mebibyte = 1024 * 1024

/** What became of a download. `failed`: the store told nothing within the budget. */
export type Fetched =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "missing" | "wrong" }
  | { readonly kind: "failed"; readonly error?: LockError | undefined }

/** What became of an upload. */
export type Stored =
  | { readonly kind: "stored"; readonly content: Content; readonly generation: Generation }
  | { readonly kind: "failed"; readonly error?: LockError | undefined }

/** Downloads a content object and checks its bytes. Never rejects. */
export async function fetchContent(
  store: ObjectStore,
  lockKey: string,
  content: Content,
  patience: Patience,
): Promise<Fetched> {
  let error: LockError | undefined
  const fetched = await insist<Fetched>(patience, timeFor(content.bytes), async (request) => {
    const answer = await store.read(contentRef(lockKey, content.content), { ...request, limit: content.bytes })
    switch (answer.kind) {
      case "found":
        return matches(content, answer.body) ? { kind: "bytes", bytes: answer.body } : { kind: "wrong" }
      case "absent":
        return { kind: "missing" }
      case "tooLarge":
      case "unchanged":
        return { kind: "wrong" }
      case "failed":
        error = answer.error
        return error.retryable ? undefined : { kind: "failed", error }
    }
  })
  return fetched ?? { kind: "failed", error }
}

/**
 * Uploads a content object, create-only. `freshName` is called for each name it tries; whatever was sent under a name may
 * arrive later, also after a failure. Never rejects.
 */
export async function storeContent(
  store: ObjectStore,
  lockKey: string,
  bytes: Uint8Array,
  digest: Digest,
  freshName: () => string,
  patience: Patience,
): Promise<Stored> {
  let error: LockError | undefined
  let content: Content = { content: freshName(), ...digest }
  const stored = await insist<Stored>(patience, timeFor(bytes.byteLength), async (request) => {
    const ref = contentRef(lockKey, content.content)
    const answer = await store.put(ref, ABSENT, bytes, request)
    if (answer.kind === "applied") return { kind: "stored", content, generation: answer.generation }
    if (answer.kind === "unknown") {
      error = answer.error
      return undefined
    }
    // Something has this name. An earlier copy of this upload, or else the name wasn't fresh.
    const there = await store.read(ref, { ...request, limit: bytes.byteLength })
    if (there.kind === "failed") error = there.error
    if (there.kind === "found" && matches(content, there.body))
      return { kind: "stored", content, generation: there.generation }
    if (there.kind === "found" || there.kind === "tooLarge") content = { ...content, content: freshName() }
    return undefined
  })
  return stored ?? { kind: "failed", error }
}

/**
 * Deletes a content object; without its generation, that is looked up. True when it is known to be gone. Never rejects,
 * except as the store's `list` does.
 */
export async function removeContent(
  store: ObjectStore,
  lockKey: string,
  content: string,
  known: Generation | undefined,
  patience: Patience,
): Promise<boolean> {
  const ref = contentRef(lockKey, content)
  const isGone = await insist<true>(patience, requestMs, async (request) => {
    const generation = known ?? (await generationOf(store, ref.name, request))
    if (generation === undefined) return true
    const answer = await store.remove(ref, generation, request)
    return answer.kind === "unknown" ? undefined : true
  })
  return isGone ?? false
}

/** All content objects of a sandbox, page by page. Rejects as the store's `list` does. */
export async function* listContents(
  store: ObjectStore,
  lockKey: string,
  patience: Patience,
): AsyncGenerator<{ readonly content: string; readonly token: number; readonly generation: Generation }> {
  const prefix = contentPrefix(lockKey)
  const { clock, until, signal } = patience
  let after: string | undefined
  do {
    const deadline = Math.min(requestMs, until - clock.read().mono)
    const page = await store.list("state", { prefix, deadline, ...(after && { after }), ...(signal && { signal }) })
    for (const { name, generation } of page.items) {
      const content = name.slice(prefix.length)
      const token = contentToken(content)
      if (token !== undefined) yield { content, token, generation }
    }
    after = page.next
  } while (after !== undefined && !signal?.aborted && clock.read().mono < until)
}

async function generationOf(
  store: ObjectStore,
  name: string,
  request: { readonly deadline: number; readonly signal?: AbortSignal },
): Promise<Generation | undefined> {
  const page = await store.list("state", { ...request, prefix: name })
  return page.items.find((item) => item.name === name)?.generation
}

/** A slow network still moves a mebibyte a second. */
const timeFor = (bytes: number): number => requestMs + (bytes / mebibyte) * 1000
