/**
 * The settings of a bucket, by one request, with the endpoint and credentials that a store of the same options would
 * use. Judges nothing. Locks need neither the settings nor the permission for them (storage.buckets.get).
 */
import { liveClock } from "../../../runtime/time/clock.ts"
import { LockError } from "../../api/errors.ts"
import { jsonIn } from "./connection/answers.ts"
import { connect } from "./connection/connection.ts"
import { checkOptions, type GcsStoreOptions } from "./connection/options.ts"

/** The settings, or why they can't be seen. */
export type BucketMetadata =
  | { readonly kind: "found"; readonly metadata: Readonly<Record<string, unknown>> }
  | { readonly kind: "hidden"; readonly why: string }

const ANSWER_LIMIT = 1024 * 1024

/** Rejects with InvalidConfigError or StoreMisconfiguredError. */
export async function bucketMetadata(options: GcsStoreOptions): Promise<BucketMetadata> {
  const settings = checkOptions(options)
  const connection = await connect(settings, options.clock ?? liveClock)
  try {
    const path = connection.paths.metadata()
    const limits = { limit: ANSWER_LIMIT, deadline: settings.requestTimeout }
    const answer = await connection.exchange("list", { method: "GET", path, headers: {}, ...limits })
    if (answer instanceof LockError) return { kind: "hidden", why: answer.message }
    const metadata = answer.status === 200 ? jsonIn(answer) : undefined
    return metadata === undefined ? { kind: "hidden", why: `status ${answer.status}` } : { kind: "found", metadata }
  } finally {
    await connection.close()
  }
}
