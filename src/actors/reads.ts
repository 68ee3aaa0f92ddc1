/** Looking at saved state without owning it. */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { checkpointCodec } from "./checkpoints/codec.ts"
import { listHeads } from "./checkpoints/listing.ts"
import { readCheckpointBytes } from "./checkpoints/read.ts"
import type { AnyHooks } from "./definition.ts"
import type { Known, Settings } from "./options.ts"
import { defaultWait } from "./waits.ts"

const from = ({ checkpoints, clock }: Settings) => ({ store: checkpoints, clock, budget: defaultWait })

/** What is saved under a lock key, as `checkpoint` returned it (migrated); undefined where nothing is. */
export const readSaved = async (settings: Settings, { parts }: Known, lockKey: string): Promise<unknown> => {
  const { schema, migrate, name } = parts.hooks
  const saved = await readCheckpointBytes(from(settings), { lockKey, type: name })
  if (saved === undefined) return undefined
  const { maxCheckpoint } = settings
  const codec = checkpointCodec({ version: parts.version, schema: inputSide(schema), migrate, maxCheckpoint })
  return codec.decode(lockKey, saved.bytes, saved.version)
}

/** The keys of all sandboxes of a definition that have saved state. */
export const listSaved = (settings: Settings, definition: string): AsyncIterable<string> =>
  listHeads(from(settings), definition)

/** The same schema, which gives back what it was given: what is saved is its input, not what it makes of that. */
const inputSide = (schema: AnyHooks["schema"]): AnyHooks["schema"] => {
  if (!("~standard" in schema)) return schema
  const standard = schema["~standard"] as StandardSchemaV1.Props
  const validate = async (value: unknown): Promise<StandardSchemaV1.Result<unknown>> => {
    const result = await standard.validate(value)
    return result.issues ? result : { value }
  }
  return { "~standard": { version: 1, vendor: standard.vendor, validate } }
}
