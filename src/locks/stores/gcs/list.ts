/**
 * Names in a bucket, page by page. A list also finds out whether the bucket is there at all. `roles/storage.objectUser`
 * has the permission for it; without that permission GCS answers 403 for absent objects.
 */
import type { Clock } from "../../../runtime/time/clock.ts"
import { StoreUnavailableError, LockError } from "../../api/errors.ts"
import type { ListOptions, Page, RequestOptions } from "../port.ts"
import { jsonIn } from "./connection/answers.ts"
import type { BucketConnection } from "./connection/connection.ts"
import { answerError, bucketMissing, isPage } from "./connection/failures.ts"
import type { Folder } from "./connection/paths.ts"

/** A page is a thousand names of at most a kilobyte each, in an emulator with all their metadata. */
const PAGE_LIMIT = 8 * 1024 * 1024

/** One page. Rejects with StoreUnavailableError or StoreMisconfiguredError. */
export async function listPage(
  connection: BucketConnection,
  clock: Clock,
  area: Folder,
  { prefix, after, ...limits }: ListOptions,
): Promise<Page> {
  const { paths } = connection
  const folder = paths.folder(area).length
  const due = clock.read().mono + limits.deadline
  let token: string | undefined
  for (;;) {
    const deadline = Math.max(due - clock.read().mono, 0)
    const body = await ask(connection, paths.list(area, prefix, after, token), { ...limits, deadline })
    const found = Array.isArray(body["items"]) ? body["items"].map((item) => itemOf(item, folder)) : []
    const items = found.filter(({ name }) => name !== after)
    const next = items.at(-1)?.name
    token = tokenIn(body)
    if (token === undefined) return { items }
    if (next !== undefined) return { items, next }
  }
}

/** GCS may send an empty page before a full one; only a missing token says that it was the last. */
function tokenIn({ nextPageToken }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof nextPageToken === "string" && nextPageToken !== "" ? nextPageToken : undefined
}

async function ask(
  connection: BucketConnection,
  path: string,
  { deadline, signal }: RequestOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const limits = { limit: PAGE_LIMIT, deadline, ...(signal === undefined ? {} : { signal }) }
  const answer = await connection.exchange("list", { method: "GET", path, headers: {}, ...limits })
  if (answer instanceof LockError) throw answer
  if (answer.status === 404 && !isPage(answer)) throw bucketMissing(connection.place)
  const body = answer.status === 200 ? jsonIn(answer) : undefined
  if (body?.["kind"] !== "storage#objects") throw answerError(connection.place, "list", answer)
  return body
}

function itemOf(item: unknown, folder: number): { readonly name: string; readonly generation: string } {
  const { name, generation } = (item ?? {}) as { name?: unknown; generation?: unknown }
  if (typeof name === "string" && typeof generation === "string") return { name: name.slice(folder), generation }
  throw new StoreUnavailableError({
    message: "a list of the bucket has an entry without a name or a generation",
    next: "Check what answers under the endpoint: it is not the JSON API of Cloud Storage",
  })
}
