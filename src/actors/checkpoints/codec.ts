/**
 * From what `checkpoint` returns to the bytes that are stored, and back to what `restore` gets. Owns validation, versions
 * and the cap on size; where bytes are kept is the keeper's business.
 *
 * With a Standard Schema the state is stored as JSON of the schema's *input* side, and what is validated before a write
 * is the value as it will be read again: so whatever is stored, this code can restore.
 *
 * An older version without `migrate` passes through the schema as it is: many changes (a new optional field) need no
 * migration, and where one was needed the schema refuses and the error says so.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { type CheckpointInvalidError, CorruptCheckpointError } from "../../locks/errors.ts"
import { gather, inOneChunk, OverCap } from "./gather.ts"
import { pathTo, throughJson } from "./json.ts"
import { invalidCheckpoint, newerVersion } from "./problems.ts"

/** Makes bytes of a value and a value of bytes. Neither may keep or change the bytes it is given. */
export interface Codec<In, Out = In> {
  /** The bytes to store. What it throws is a CheckpointInvalidError's cause. */
  encode(value: In): AsyncIterable<Uint8Array> | Uint8Array | Promise<Uint8Array>
  /** The value of stored bytes. What it throws is a CorruptCheckpointError's cause. */
  decode(bytes: AsyncIterable<Uint8Array>): Out | Promise<Out>
}

/** State that is bytes already: a file, a database image. */
export const bytes: Codec<Uint8Array> = {
  encode: (value) => value,
  decode: (chunks) => gather(chunks, Number.POSITIVE_INFINITY),
}

/** State that is JSON and that nobody checks on the way back: for prototypes, and for types no schema can say. */
export function unchecked<C>(): Codec<C> {
  return {
    encode: (value) => {
      const json = throughJson(value)
      if ("why" in json) throw new TypeError(`${json.path} ${json.why}`)
      return new TextEncoder().encode(json.text)
    },
    decode: async (chunks) => parseJson(await gather(chunks, Number.POSITIVE_INFINITY)) as C,
  }
}

/** What the codec of a definition is made from. */
export interface CodecParts<In, Out> {
  /** The definition's version. */
  readonly version: number
  readonly schema: StandardSchemaV1<In, Out> | Codec<In, Out>
  /** Makes state of version `from` into state of `version`, before the schema sees it. */
  readonly migrate?: ((saved: unknown, from: number) => unknown) | undefined
  /** The most bytes a checkpoint may have. */
  readonly maxCheckpoint: number
}

/** The two ways between a definition's state and its bytes. `key` is the sandbox's, for messages. */
export interface CheckpointCodec<In, Out> {
  /** Rejects with CheckpointInvalidError, and nothing is stored. */
  encode(key: string, value: In): Promise<Uint8Array>
  /** Rejects with CheckpointVersionError for newer state, CorruptCheckpointError for what can't be restored. */
  decode(key: string, saved: Uint8Array, version: number): Promise<Out>
}

/** The codec of a definition. */
export function checkpointCodec<In, Out>(parts: CodecParts<In, Out>): CheckpointCodec<In, Out> {
  const { schema, version, migrate, maxCheckpoint } = parts
  const sides = isStandard(schema) ? schemaSides(schema) : codecSides(schema, maxCheckpoint)
  return {
    async encode(key, value) {
      const encoded = await sides.encode(key, value)
      if (encoded.byteLength > maxCheckpoint) throw overCap(key, encoded.byteLength, maxCheckpoint)
      return encoded
    },
    async decode(key, saved, from) {
      if (from > version) throw newerVersion(key, from, version)
      const read = await orCorrupt(key, "can't be decoded", () => sides.read(saved), "Put a good copy back")
      if (from === version)
        return sides.accept(key, read, "Make the schema accept what it accepted when this was saved")
      const mend = `Add migrate(saved, ${from}) to its definition, or mend it`
      if (migrate === undefined) return sides.accept(key, read, mend)
      return sides.accept(key, await orCorrupt(key, "can't be migrated", () => migrate(read, from), mend), mend)
    },
  }
}

/** The error for a checkpoint over the cap. */
export const overCap = (key: string, size: number, cap: number): CheckpointInvalidError =>
  invalidCheckpoint(key, `it has ${size} bytes or more, over the cap of ${cap}`, "Save less, or raise maxCheckpoint")

/** The three steps that differ between a schema and a codec. */
interface Sides<In, Out> {
  encode(key: string, value: In): Promise<Uint8Array>
  read(saved: Uint8Array): Promise<unknown>
  /** `next` is what to do about a refusal. */
  accept(key: string, read: unknown, next: string): Promise<Out>
}

const schemaSides = <In, Out>(schema: StandardSchemaV1<In, Out>): Sides<In, Out> => ({
  async encode(key, value) {
    const json = await orInvalid(key, "can't be read", () => throughJson(value))
    if ("why" in json) throw invalidCheckpoint(key, `${json.path} ${json.why}`, "Return only what JSON can hold")
    const next = "Return what the schema accepts"
    const result = await orInvalid(key, "makes its schema throw", () => schema["~standard"].validate(json.value), next)
    if (result.issues) throw invalidCheckpoint(key, `its schema refuses it: ${whyNot(result.issues)}`, next)
    return new TextEncoder().encode(json.text)
  },
  read: async (saved) => parseJson(saved),
  async accept(key, read, next) {
    const result = await orCorrupt(key, "makes its schema throw", () => schema["~standard"].validate(read), next)
    if (result.issues) throw corruptState(key, `is refused by its schema: ${whyNot(result.issues)}`, next)
    return result.value
  },
})

const codecSides = <In, Out>(codec: Codec<In, Out>, cap: number): Sides<In, Out> => ({
  async encode(key, value) {
    const encode = async (): Promise<Uint8Array> => {
      const encoded = await codec.encode(value)
      return encoded instanceof Uint8Array ? encoded : gather(encoded, cap)
    }
    return orInvalid(key, "is refused by its codec", encode, "Return what the codec accepts", cap)
  },
  read: async (saved) => codec.decode(inOneChunk(saved)),
  accept: async (_key, read) => read as Out,
})

const isStandard = <In, Out>(schema: StandardSchemaV1<In, Out> | Codec<In, Out>): schema is StandardSchemaV1<In, Out> =>
  "~standard" in schema

const parseJson = (saved: Uint8Array): unknown => JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(saved))

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** The first few issues with their paths. */
const whyNot = (issues: readonly StandardSchemaV1.Issue[]): string =>
  issues
    .slice(0, 3)
    .map(({ path = [], message }) => {
      const names = path.map((segment) => (typeof segment === "object" ? segment.key : segment))
      return `${names.reduce<string>(pathTo, "$")}: ${message}`
    })
    .join("; ")

async function orInvalid<A>(
  key: string,
  what: string,
  attempt: () => A | Promise<A>,
  next = "Return what can be read as often as needed",
  cap = Number.POSITIVE_INFINITY,
): Promise<A> {
  try {
    return await attempt()
  } catch (cause) {
    if (cause instanceof OverCap) throw overCap(key, cause.size, cap)
    throw invalidCheckpoint(key, `it ${what}: ${messageOf(cause)}`, next, cause)
  }
}

async function orCorrupt<A>(key: string, what: string, attempt: () => A | Promise<A>, next: string): Promise<A> {
  try {
    return await attempt()
  } catch (cause) {
    throw corruptState(key, `${what}: ${messageOf(cause)}`, next, cause)
  }
}

const corruptState = (key: string, why: string, next: string, cause?: unknown): CorruptCheckpointError =>
  new CorruptCheckpointError({ message: `The saved state of ${key} ${why}`, next, key, cause })
