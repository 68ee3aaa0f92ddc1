/**
 * From the value that `checkpoint` returns to the bytes that are stored, and back to the value that `restore` gets.
 * Owns validation, versions and the cap on size. Where bytes are kept is the writer's business.
 *
 * With a Standard Schema the state is stored as JSON of the schema's *input* side. What is validated before a write is
 * the value as it will be read again. So whatever is stored, this code can restore.
 *
 * State of an older version goes through `migrate`, which a definition of a raised version has.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { type CheckpointInvalidError, CorruptCheckpointError } from "../../../locks/api/errors.ts"
import { invalidCheckpoint, newerVersion } from "../objects/problems.ts"
import { gather, inOneChunk, OverCap } from "./gather.ts"
import { pathTo, throughJson } from "./json.ts"

/** The context of a definition's code for saved state: `migrate`, codecs, and schemas (as `libraryOptions`). */
export interface CodecContext {
  /** The sandbox's key, as the caller gave it. */
  readonly key: string
  /** The fencing token; undefined where saved state is only looked at, without a lease. */
  readonly token: number | undefined
  /**
   * Aborts once the limit is over: `restoreWithin` for what `restore` is to get, `checkpointWithin` for what is to be
   * saved. Aborts before that on loss, and before a restore when the sandbox has to end.
   */
  readonly signal: AbortSignal
}

/** Makes bytes of a value and a value of bytes. Neither may keep or change the bytes it is given. */
export interface Codec<In, Out = In> {
  /** The bytes to store. What it throws is a CheckpointInvalidError's cause. */
  encode(value: In, context: CodecContext): AsyncIterable<Uint8Array> | Uint8Array | Promise<Uint8Array>
  /** The value of stored bytes. What it throws is a CorruptCheckpointError's cause. */
  decode(bytes: AsyncIterable<Uint8Array>, context: CodecContext): Out | Promise<Out>
}

/** Whose state it is, and what runs the definition's code on it, under its limit. */
export interface CodecScope extends Omit<CodecContext, "signal"> {
  /** For messages. */
  readonly lockKey: string
  /** Settles as fn does, or rejects when its limit is over. */
  readonly run: <A>(hook: "migrate" | "schema" | "codec", fn: (signal: AbortSignal) => A | Promise<A>) => Promise<A>
}

/** State that is bytes already: a file, a database image. Its functions serve codecs of one's own too. */
export const bytes: {
  readonly encode: (value: Uint8Array) => Uint8Array
  readonly decode: (bytes: AsyncIterable<Uint8Array>) => Promise<Uint8Array>
} = {
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
  readonly migrate?: ((saved: unknown, from: number, context: CodecContext) => unknown) | undefined
  /** The most bytes a checkpoint may have. */
  readonly maxCheckpoint: number
}

/** The two ways between a definition's state and its bytes. Both reject with what their scope's `run` does, too. */
export interface CheckpointCodec<In, Out> {
  /** Rejects with CheckpointInvalidError, and nothing is stored. */
  encode(scope: CodecScope, value: In): Promise<Uint8Array>
  /** Rejects with CheckpointVersionError for newer state, CorruptCheckpointError for what can't be restored. */
  decode(scope: CodecScope, saved: Uint8Array, version: number): Promise<Out>
}

/** The codec of a definition. */
export function checkpointCodec<In, Out>(parts: CodecParts<In, Out>): CheckpointCodec<In, Out> {
  const { schema, version, migrate, maxCheckpoint } = parts
  const sides = isStandard(schema) ? schemaSides(schema) : codecSides(schema, maxCheckpoint)
  return {
    async encode(scope, value) {
      const encoded = await sides.encode(scope, value)
      if (encoded.byteLength > maxCheckpoint) throw overCap(scope.lockKey, encoded.byteLength, maxCheckpoint)
      return encoded
    },
    async decode(scope, saved, from) {
      if (from > version) throw newerVersion(scope.lockKey, from, version)
      const read = await sides.read(scope, saved)
      if (from === version || migrate === undefined)
        return sides.accept(scope, read, "Make the schema accept what it accepted when this was saved")
      const mend = `Add migrate(saved, ${from}) to its definition, or mend it`
      const migrated = await scope.run("migrate", (signal) =>
        orCorrupt(scope.lockKey, "can't be migrated", () => migrate(read, from, told(scope, signal)), mend, signal),
      )
      return sides.accept(scope, migrated, mend)
    },
  }
}

/**
 * The most bytes of a checkpoint where `maxCheckpoint` doesn't say: 32 MiB, as each one is held in memory while it is
 * written.
 */
export const DEFAULT_CAP: number = 32 * 1024 * 1024

/** The error for a checkpoint over the cap. */
export const overCap = (key: string, size: number, cap: number): CheckpointInvalidError =>
  invalidCheckpoint(key, `it has ${size} bytes or more, over the cap of ${cap}`, "Save less, or raise maxCheckpoint")

const told = ({ key, token }: CodecScope, signal: AbortSignal): CodecContext => ({ key, token, signal })

/** The three steps that differ between a schema and a codec. */
interface Sides<In, Out> {
  encode(scope: CodecScope, value: In): Promise<Uint8Array>
  read(scope: CodecScope, saved: Uint8Array): Promise<unknown>
  /** `next` is what to do about a refusal. */
  accept(scope: CodecScope, read: unknown, next: string): Promise<Out>
}

const unreadable = "can't be decoded"
const putBack = "Put a good copy back"

const schemaSides = <In, Out>(schema: StandardSchemaV1<In, Out>): Sides<In, Out> => {
  const validate = (scope: CodecScope, value: unknown, signal: AbortSignal) =>
    schema["~standard"].validate(value, { libraryOptions: { ...told(scope, signal) } })
  return {
    async encode(scope, value) {
      const { lockKey } = scope
      const json = await orInvalid(lockKey, "can't be read", () => throughJson(value))
      if ("why" in json) throw invalidCheckpoint(lockKey, `${json.path} ${json.why}`, "Return only what JSON can hold")
      const next = "Return what the schema accepts"
      const result = await scope.run("schema", (signal) =>
        orInvalid(lockKey, "makes its schema throw", () => validate(scope, json.value, signal), next, { signal }),
      )
      if (result.issues) throw invalidCheckpoint(lockKey, `its schema refuses it: ${whyNot(result.issues)}`, next)
      return new TextEncoder().encode(json.text)
    },
    read: ({ lockKey }, saved) => orCorrupt(lockKey, unreadable, () => parseJson(saved), putBack),
    async accept(scope, read, next) {
      const { lockKey } = scope
      const result = await scope.run("schema", (signal) =>
        orCorrupt(lockKey, "makes its schema throw", () => validate(scope, read, signal), next, signal),
      )
      if (result.issues) throw corruptState(lockKey, `is refused by its schema: ${whyNot(result.issues)}`, next)
      return result.value
    },
  }
}

const codecSides = <In, Out>(codec: Codec<In, Out>, cap: number): Sides<In, Out> => ({
  async encode(scope, value) {
    const encode = async (signal: AbortSignal): Promise<Uint8Array> => {
      const encoded = await codec.encode(value, told(scope, signal))
      return encoded instanceof Uint8Array ? encoded : gather(encoded, cap)
    }
    return scope.run("codec", (signal) =>
      orInvalid(scope.lockKey, "is refused by its codec", () => encode(signal), "Return what the codec accepts", {
        ...{ signal, cap },
      }),
    )
  },
  read: (scope, saved) =>
    scope.run("codec", (signal) =>
      orCorrupt(scope.lockKey, unreadable, () => codec.decode(inOneChunk(saved), told(scope, signal)), putBack, signal),
    ),
  accept: async (_scope, read) => read as Out,
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
  { cap = Number.POSITIVE_INFINITY, signal }: { readonly cap?: number; readonly signal?: AbortSignal } = {},
): Promise<A> {
  try {
    return await attempt()
  } catch (cause) {
    signal?.throwIfAborted() // it obeyed: nothing is wrong with the checkpoint
    if (cause instanceof OverCap) throw overCap(key, cause.size, cap)
    throw invalidCheckpoint(key, `it ${what}: ${messageOf(cause)}`, next, cause)
  }
}

async function orCorrupt<A>(
  key: string,
  what: string,
  attempt: () => A | Promise<A>,
  next: string,
  signal?: AbortSignal,
): Promise<A> {
  try {
    return await attempt()
  } catch (cause) {
    signal?.throwIfAborted() // it obeyed: nothing is wrong with what is saved
    throw corruptState(key, `${what}: ${messageOf(cause)}`, next, cause)
  }
}

const corruptState = (key: string, why: string, next: string, cause?: unknown): CorruptCheckpointError =>
  new CorruptCheckpointError({ message: `The saved state of ${key} ${why}`, next, key, cause })
