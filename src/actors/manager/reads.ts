/** Looking at saved state without owning it. */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { Fibers } from "../../runtime/bridges/fibers.ts"
import type { AnyHooks } from "../api/definition.ts"
import { checkpointCodec } from "../checkpoints/content/codec.ts"
import { listHeads } from "../checkpoints/listing.ts"
import { readCheckpointBytes } from "../checkpoints/read.ts"
import type { ManagerSettings } from "../registry/options.ts"
import type { SandboxRef } from "../registry/registry.ts"
import { defaultWait } from "../sandbox/waits.ts"
import { type HookOwner, HookRuns } from "../sandbox/work/hook-runs.ts"

const from = ({ checkpoints, clock }: ManagerSettings) => ({ store: checkpoints, clock, budget: defaultWait })

/**
 * What is saved of a sandbox, as `checkpoint` returned it (migrated); undefined where nothing is. Beside the errors of
 * saved state it rejects with HookOverrunError.
 */
export const readSaved = async (settings: ManagerSettings, { known, key, lockKey }: SandboxRef): Promise<unknown> => {
  const { parts } = known
  const { schema, migrate, name } = parts.hooks
  const saved = await readCheckpointBytes(from(settings), { lockKey, type: name })
  if (saved === undefined) return undefined
  const { maxCheckpoint, clock, restoreWithin, report } = settings
  const codec = checkpointCodec({ version: parts.version, schema: inputSide(schema), migrate, maxCheckpoint })
  const hooks = new HookRuns(lockKey, new Fibers(clock, report), clock, nobody)
  const { run } = hooks.series({ under: [], limit: hooks.limit("restoreWithin", restoreWithin) })
  return codec.decode({ key, lockKey, token: undefined, run }, saved.bytes, saved.version)
}

/** No lease can be lost here, and the caller itself is told of a limit that is over. */
const nobody: HookOwner = { isLost: () => false, onOverrun: () => {}, onBegin: () => undefined, onEnd: () => {} }

/** The keys of all sandboxes of a definition that have saved state. */
export const listSaved = (settings: ManagerSettings, definition: string): AsyncIterable<string> =>
  listHeads(from(settings), definition)

/** The same schema, but it gives back the value that it was given: the input side is what is saved. */
const inputSide = (schema: AnyHooks["schema"]): AnyHooks["schema"] => {
  if (!("~standard" in schema)) return schema
  const standard = schema["~standard"] as StandardSchemaV1.Props
  const validate: StandardSchemaV1.Props["validate"] = async (value, options) => {
    const result = await standard.validate(value, options)
    return result.issues ? result : { value }
  }
  return { "~standard": { version: 1, vendor: standard.vendor, validate } }
}
