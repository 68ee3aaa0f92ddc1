/** Bytes that come in chunks, collected into one array up to a cap. */

/** There are more bytes than the cap allows; the rest was not read. */
export class OverCap extends Error {
  /** The bytes read so far. */
  readonly size: number

  constructor(size: number) {
    super(`over the cap at ${size} bytes`)
    this.size = size
  }
}

/** All chunks as one array of its own. Rejects with OverCap, and with TypeError for a chunk that isn't a Uint8Array. */
export async function gather(chunks: AsyncIterable<Uint8Array>, cap: number): Promise<Uint8Array> {
  const taken: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError(`a chunk is ${typeof chunk}, not a Uint8Array`)
    size += chunk.byteLength
    if (size > cap) throw new OverCap(size)
    taken.push(chunk)
  }
  const all = new Uint8Array(size)
  let at = 0
  for (const chunk of taken) {
    all.set(chunk, at)
    at += chunk.byteLength
  }
  return all
}

/** One array as the only chunk. */
export async function* inOneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
