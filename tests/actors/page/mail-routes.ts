/** How docs/sandboxes.md uses its sandbox, word for word: page.test.ts compares them. */

// --- example: a worker that serves it
// mail-routes.ts: a worker, and what it answers to GET /mail/:user.
import { CheckpointVersionError, LockError, OwnedElsewhereError, SandboxManager } from "leasehold"
import { fileStore } from "leasehold/file"
import { mailbox } from "./mailbox.ts"

export function startWorker(directory: string, address: string): Promise<SandboxManager> {
  return SandboxManager.start({ store: fileStore({ directory }), sandboxes: [mailbox], address })
}

export async function getMail(manager: SandboxManager, user: string): Promise<Response> {
  try {
    const texts = await manager.use(mailbox, user, ({ mails }) => [...mails.values()], { whenOwned: "report" })
    return Response.json(texts)
  } catch (error) {
    const isElsewhere = error instanceof OwnedElsewhereError || error instanceof CheckpointVersionError
    const address = isElsewhere ? error.owner?.address : undefined
    if (address !== undefined) return Response.redirect(`${address}/mail/${encodeURIComponent(user)}`, 307)
    if (error instanceof LockError && error.retryable) return new Response(error.message, { status: 503 })
    throw error
  }
}
// --- end
