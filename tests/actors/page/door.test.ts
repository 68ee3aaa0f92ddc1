/** The example of docs/sandboxes.md that has a machine in it, word for word: page.test.ts compares them. */

// --- example: a machine in it
import { defineSandbox, unchecked } from "leasehold"
import { testWorker } from "leasehold/testing"
import { expect, it } from "vitest"
import { createActor, createMachine, type Snapshot } from "xstate"

const doorMachine = createMachine({
  initial: "closed",
  states: { closed: { on: { open: "opened" } }, opened: { on: { close: "closed" } } },
})

const door = defineSandbox({
  name: "door",
  schema: unchecked<Snapshot<unknown>>(),
  restore: ({ checkpoint }) => createActor(doorMachine, checkpoint && { snapshot: checkpoint }).start(),
  checkpoint: (actor) => actor.getPersistedSnapshot(),
  close: (actor) => void actor.stop(),
  inspectState: (actor) => ({ machine: doorMachine, value: actor.getSnapshot().value }),
})

it("goes on in the state in which it was saved", async () => {
  await using worker = await testWorker(door)
  await worker.use((actor) => actor.send({ type: "open" }))
  const next = await worker.requestHandoff()
  expect(await next.use((actor) => actor.getSnapshot().value)).toBe("opened")
})
// --- end
