/**
 * Where an object lies in the bucket, and the paths of the JSON API's requests for it. An object's name is
 * `<prefix>/<area>/<name>`, or one that the user gave for its key; one path segment of a URL, encoded whole.
 */
import type { Area, Generation } from "../../port.ts"
import type { ContentType } from "../http/multipart.ts"

const PAGE_SIZE = 1000

/** The areas of the port, and one that is the store's own (proofs.ts). */
export type Folder = Area | "proofs"

/** Addresses an object in one of them. */
export interface FolderRef {
  readonly area: Folder
  /** Unique in it. */
  readonly name: string
}

/** The paths of one bucket and prefix. */
export class Paths {
  readonly #root: string
  readonly #objects: string
  readonly #uploads: string
  readonly #named: ReadonlyMap<string, string>
  /** Ends every query. */
  readonly #payer: string

  /** `base` is the endpoint's own path, without a slash at its end. `userProject` pays for the requests. */
  constructor(
    base: string,
    bucket: string,
    prefix: string,
    named: ReadonlyMap<string, string> = new Map(),
    userProject?: string,
  ) {
    const objects = `/storage/v1/b/${encodeURIComponent(bucket)}/o`
    this.#named = named
    this.#payer = userProject === undefined ? "" : `&userProject=${encodeURIComponent(userProject)}`
    this.#root = prefix === "" ? "" : `${prefix}/`
    this.#objects = base + objects
    this.#uploads = `${base}/upload${objects}?uploadType=multipart&fields=generation&name=`
  }

  read(ref: FolderRef, known: Generation | undefined): string {
    const path = `${this.#objects}/${this.#encoded(ref)}?alt=media${this.#payer}`
    return known === undefined ? path : `${path}&ifGenerationNotMatch=${encodeURIComponent(known)}`
  }

  upload(ref: FolderRef, expected: Generation): string {
    return `${this.#uploads}${this.#encoded(ref)}&ifGenerationMatch=${encodeURIComponent(expected)}${this.#payer}`
  }

  remove(ref: FolderRef, expected: Generation): string {
    return `${this.#objects}/${this.#encoded(ref)}?ifGenerationMatch=${encodeURIComponent(expected)}${this.#payer}`
  }

  /** The page begins with `after` itself, where that is there. */
  list(area: Folder, prefix: string, after: string | undefined, token: string | undefined): string {
    const query = `prefix=${encodeURIComponent(this.folder(area) + prefix)}&maxResults=${PAGE_SIZE}`
    const start = after === undefined ? "" : `&startOffset=${encodeURIComponent(this.folder(area) + after)}`
    const page = token === undefined ? start : `${start}&pageToken=${encodeURIComponent(token)}`
    return `${this.#objects}?${query}${page}&fields=kind,items(name,generation),nextPageToken${this.#payer}`
  }

  /** The bucket's settings. */
  metadata(): string {
    return `${this.#objects.slice(0, -"/o".length)}?projection=noAcl${this.#payer}`
  }

  /** What the names of all objects of an area begin with. */
  folder(area: Folder): string {
    return `${this.#root}${area}/`
  }

  #encoded({ area, name }: FolderRef): string {
    const given = area === "leases" ? this.#named.get(name) : undefined
    return encodeURIComponent(given ?? `${this.#root}${area}/${name}`)
  }
}

/** Checkpoint contents are bytes of the user's; everything else that the store keeps is JSON. */
export function contentTypeOf(ref: FolderRef): ContentType {
  return ref.area === "state" && !ref.name.endsWith("/head") ? "application/octet-stream" : "application/json"
}
