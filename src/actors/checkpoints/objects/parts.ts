/**
 * The two parts of saved bytes: the state as its codec made it, and behind it what is remembered of durable calls. One
 * write stores both, so that a call's effect and the answer to its repetition are never apart.
 */

/** What is saved of a sandbox. */
export interface SavedParts {
  readonly state: Uint8Array
  /** Undefined where no durable call was ever made. */
  readonly calls: Uint8Array | undefined
}

/** Both as one, with how many bytes at the end are of calls. */
export function joined({ state, calls }: SavedParts): { readonly bytes: Uint8Array; readonly calls: number } {
  if (calls === undefined) return { bytes: state, calls: 0 }
  const bytes = new Uint8Array(state.byteLength + calls.byteLength)
  bytes.set(state)
  bytes.set(calls, state.byteLength)
  return { bytes, calls: calls.byteLength }
}

/** The way back; `calls` is at most the number of the bytes. Each has its own buffer, as a codec may look at that. */
export function parted(bytes: Uint8Array, calls = 0): SavedParts {
  if (calls === 0) return { state: bytes, calls: undefined }
  const end = bytes.byteLength - calls
  return { state: bytes.slice(0, end), calls: bytes.slice(end) }
}
