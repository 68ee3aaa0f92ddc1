/** The examples of docs/sandboxes.md that show one sandbox, word for word: page.test.ts compares them. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
// --- example: its test
// mailbox.test.ts
import { testWorker } from "leasehold/testing"
import { expect, it } from "vitest"
import { getMail, startWorker } from "./mail-routes.ts"
import { deliver } from "./mail-server.ts"
import { mailbox } from "./mailbox.ts"

it("has the mail that came, though its process was killed and another goes on", async () => {
  await using worker = await testWorker(mailbox, { key: "ada" })
  deliver("ada", { id: "1", text: "hello" })
  await worker.advance("1 min")
  const next = await worker.crash()
  expect(await next.use(({ mails }) => [...mails.values()])).toEqual(["hello"])
})
// --- end

// --- example: how it ends
it("ends as handed over when another process asks for it", async () => {
  await using worker = await testWorker(mailbox, { key: "bob" })
  const sandbox = await worker.run(worker.manager.restoreSandbox(mailbox, "bob"))
  const states: string[] = []
  sandbox.state$.subscribe(({ value }) => states.push(JSON.stringify(value)))
  await worker.requestHandoff()
  expect(states).toContain('{"handingOff":{"lease":"healthy","work":"checkpointing"}}')
  expect(states.at(-1)).toBe('{"released":"handedOff"}')
  expect(await sandbox.ended).toEqual({ reason: "handoff" })
})
// --- end

it("is answered by its owner, and by another process with the owner's address", async () => {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-mail-"))
  try {
    await using a = await startWorker(directory, "http://a.test")
    await using b = await startWorker(directory, "http://b.test")
    expect(await (await getMail(a, "eve")).json()).toEqual([])
    const elsewhere = await getMail(b, "eve")
    expect([elsewhere.status, elsewhere.headers.get("location")]).toEqual([307, "http://a.test/mail/eve"])
    await a.drain()
    expect((await getMail(b, "eve")).status).toBe(200)
  } finally {
    await rm(directory, { recursive: true })
  }
})
