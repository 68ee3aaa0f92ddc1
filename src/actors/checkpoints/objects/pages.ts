/** The names of objects, page by page, tried again while the store can't be listed. */
import { LockError } from "../../../locks/api/errors.ts"
import type { ObjectStore, Page } from "../../../locks/stores/port.ts"
import { Again, insist, type Patience } from "./patience.ts"
import { orFail, type StatePlace } from "./problems.ts"

const requestMs = 10_000

/**
 * The pages of all names in `state` that begin with the prefix; `patience` is asked for anew for each. Rejects with
 * StoreUnavailableError, StoreMisconfiguredError or LockCancelledError.
 */
export async function* pagesOf(
  store: ObjectStore,
  prefix: string,
  place: StatePlace,
  patience: () => Patience,
): AsyncGenerator<Page["items"]> {
  let after: string | undefined
  do {
    const page: Page = await pageAfter(store, prefix, place, patience(), after)
    yield page.items
    after = page.next
  } while (after !== undefined)
}

async function pageAfter(
  store: ObjectStore,
  prefix: string,
  place: StatePlace,
  patience: Patience,
  after: string | undefined,
): Promise<Page> {
  const page = await insist<Page>(patience, requestMs, async (request) => {
    try {
      return await store.list("state", { ...request, prefix, ...(after !== undefined && { after }) })
    } catch (error) {
      if (error instanceof LockError && error.retryable) return new Again(error)
      throw error
    }
  })
  return page instanceof Again ? orFail(page, place, "Listing the saved state", patience.signal) : page
}
