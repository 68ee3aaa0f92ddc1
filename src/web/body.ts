/** The text of a body that somebody else sends: no more of it is held than is asked for. */

/** As UTF-8; undefined where it is longer than `limit` bytes. Rejects as the stream does. */
export async function shortText(body: ReadableStream<Uint8Array> | null, limit: number): Promise<string | undefined> {
  const decoder = new TextDecoder()
  let text = ""
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > limit) return undefined
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
