/** The sandbox of docs/sandboxes.md, word for word: page.test.ts compares them. */

// --- example: a sandbox with all that most have
// mailbox.ts: the mail of one user, fetched every minute by one process of the fleet.
import { defineSandbox, type SandboxDefinition } from "leasehold"
import * as z from "zod"
import { connect, type MailConnection } from "./mail-server.ts"

/** What is in memory while a process owns the mailbox, and what is saved of it. */
type Mailbox = { readonly server: MailConnection; readonly mails: Map<string, string> }
type Saved = { mails: [string, string][] }

export const mailbox: SandboxDefinition<Mailbox, Saved> = defineSandbox({
  name: "mailbox",
  schema: z.object({ mails: z.array(z.tuple([z.string(), z.string()])) }),
  async restore({ key, checkpoint, signal }) {
    return { server: await connect(key, signal), mails: new Map(checkpoint?.mails) }
  },
  async run({ server, mails }, { clock, signal, token, turn, checkpoint }) {
    for (;;) {
      const fetched = await server.fetch(signal).catch(() => []) // tried again in a minute
      await turn(() => {
        for (const { id, text } of fetched) mails.set(id, text)
      })
      await checkpoint() // only what is stored here may be forgotten there
      await server.forget(fetched, { token, signal })
      await clock.sleep("1 min") // rejects when the sandbox has to leave, which ends the loop
    }
  },
  checkpoint: ({ mails }) => ({ mails: [...mails] }),
  close: ({ server }) => server.close(),
})
// --- end
