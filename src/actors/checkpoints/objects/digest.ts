/** What is written down about saved bytes, so that a reader can tell whether it got just these. Pure. */
import { sha256 } from "../../../runtime/time/hash.ts"

/** The checksum and the length of saved bytes. */
export interface Digest {
  /** In hexadecimal. */
  readonly sha256: string
  /** How many. */
  readonly bytes: number
}

/** A content object as a head names it. */
export interface NamedContent extends Digest {
  readonly content: string
}

/** What is saved about bytes, and what tells two states apart. */
export function digestOf(bytes: Uint8Array): Digest {
  return { sha256: sha256(bytes), bytes: bytes.byteLength }
}

/** Whether these are the bytes whose checksum and length were saved. */
export function matches(saved: Digest, bytes: Uint8Array): boolean {
  return bytes.byteLength === saved.bytes && sha256(bytes) === saved.sha256
}
