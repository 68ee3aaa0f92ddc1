/** Which bucket a message or an advice is about. */
export interface BucketPlace {
  /** The store's name: `gs://bucket/prefix`. */
  readonly name: string
  readonly bucket: string
  /** The server, as a URL without a slash at its end. */
  readonly endpoint: string
}
