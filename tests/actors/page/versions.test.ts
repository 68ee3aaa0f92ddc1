/** The examples of docs/sandboxes.md about versions and deploys, word for word: page.test.ts compares them. */
// --- example: two releases of one definition
import { type AnyDefinition, bytes, CheckpointVersionError, type Codec, defineSandbox, SandboxManager } from "leasehold"
import { type FakeWorld, fakeWorld } from "leasehold/testing"
import { expect, it } from "vitest"
import * as z from "zod"

const textForm = z.object({ text: z.string() })
const linesForm = z.object({ lines: z.array(z.string()) })

const notes1 = defineSandbox({
  name: "notes",
  schema: textForm,
  restore: ({ checkpoint }) => ({ text: checkpoint?.text ?? "" }),
  checkpoint: (state) => ({ text: state.text }),
})

const notes2 = defineSandbox({
  name: "notes",
  version: 2,
  migrate: (saved) => ({ lines: textForm.parse(saved).text.split("\n") }),
  schema: linesForm,
  restore: ({ checkpoint }) => ({ lines: checkpoint?.lines ?? [] }),
  checkpoint: (state) => ({ lines: state.lines }),
})
// --- end

// --- example: a rolling deploy
/** A process that knows one release of the sandbox. */
function worker(world: FakeWorld, id: string, ...sandboxes: AnyDefinition[]): Promise<SandboxManager> {
  const incarnation = world.process(id)
  const { store } = world
  const { clock } = incarnation
  return world.until(SandboxManager.start({ store, clock, incarnation, sandboxes, minTenure: 0 }))
}

it("moves to a new process and is migrated there, and doesn't move back", async () => {
  const world = fakeWorld()
  const [old, newer] = [await worker(world, "old", notes1), await worker(world, "newer", notes2)]
  await world.until(old.use(notes1, "ada", (state) => void (state.text = "a\nb")))
  expect(await world.until(newer.use(notes2, "ada", (state) => state.lines))).toEqual(["a", "b"])
  const back = old.use(notes1, "ada", (state) => state.text)
  await expect(world.until(back)).rejects.toBeInstanceOf(CheckpointVersionError)
})
// --- end

// --- example: the way back
const notes3 = defineSandbox({
  name: "notes",
  version: 3, // the code of version 1 again
  migrate: (saved, from) => (from === 2 ? { text: linesForm.parse(saved).lines.join("\n") } : saved),
  schema: textForm,
  restore: ({ checkpoint }) => ({ text: checkpoint?.text ?? "" }),
  checkpoint: (state) => ({ text: state.text }),
})

it("is rolled back by a release with a higher version", async () => {
  const world = fakeWorld()
  const [bad, back] = [await worker(world, "bad", notes2), await worker(world, "back", notes3)]
  await world.until(bad.use(notes2, "ada", (state) => void state.lines.push("a", "b"), { durable: true }))
  expect(await world.until(back.use(notes3, "ada", (state) => state.text))).toBe("a\nb")
})
// --- end

// --- example: a new form without a new version
const both = z.union([linesForm, textForm.transform(({ text }) => ({ lines: text.split("\n") }))])

const notes = (save: (lines: string[]) => z.input<typeof both>) =>
  defineSandbox({
    name: "notes",
    schema: both, // reads both forms
    restore: ({ checkpoint }) => ({ lines: checkpoint?.lines ?? [] }),
    checkpoint: (state) => save(state.lines),
  })

const first = notes((lines) => ({ text: lines.join("\n") })) // still writes the old form
const second = notes((lines) => ({ lines })) // goes out when every process has the first one

it("moves both ways between the two releases", async () => {
  const world = fakeWorld()
  const [a, b] = [await worker(world, "a", first), await worker(world, "b", second)]
  await world.until(a.use(first, "ada", (state) => state.lines.push("a")))
  await world.until(b.use(second, "ada", (state) => state.lines.push("b")))
  expect(await world.until(a.use(first, "ada", (state) => state.lines))).toEqual(["a", "b"])
})
// --- end

// --- example: another codec
/** The text as bytes, behind a first byte that JSON never has. Also reads the JSON of version 1. */
const textBytes: Codec<string> = {
  encode: (saved) => Uint8Array.from([0, ...new TextEncoder().encode(saved)]),
  async decode(chunks) {
    const saved = await bytes.decode(chunks)
    if (saved[0] === 0) return new TextDecoder().decode(saved.subarray(1))
    return textForm.parse(JSON.parse(new TextDecoder().decode(saved))).text
  },
}

const notesInBytes = defineSandbox({
  name: "notes",
  version: 2,
  migrate: (saved) => saved, // decode has seen to it
  schema: textBytes,
  restore: ({ checkpoint }) => ({ text: checkpoint ?? "" }),
  checkpoint: (state) => state.text,
})

it("reads what was saved as JSON, and saves bytes", async () => {
  const world = fakeWorld()
  const [old, newer] = [await worker(world, "old", notes1), await worker(world, "newer", notesInBytes)]
  await world.until(old.use(notes1, "ada", (state) => void (state.text = "a")))
  await world.until(newer.use(notesInBytes, "ada", (state) => void (state.text += "b"), { durable: true }))
  expect(await world.until(newer.readCheckpoint(notesInBytes, "ada"))).toBe("ab")
})
// --- end

// --- example: another name
const pages = defineSandbox({
  name: "pages", // was "notes"
  schema: linesForm,
  restore: ({ checkpoint }) => ({ lines: checkpoint?.lines ?? [] }),
  checkpoint: (state) => ({ lines: state.lines }),
})

/** Run it once no process uses `notes` any more, and before any uses `pages`. It may be run again. */
async function rename(manager: SandboxManager): Promise<void> {
  for await (const key of manager.list(notes2)) {
    const saved = await manager.readCheckpoint(notes2, key)
    await manager.use(pages, key, (state) => void (state.lines = saved?.lines ?? []), { durable: true })
    await manager.remove(notes2, key)
  }
}
// --- end

it("carries the state of each key to another name", async () => {
  const world = fakeWorld()
  const former = await worker(world, "former", notes2)
  for (const key of ["ada", "bob"]) await world.until(former.use(notes2, key, (state) => state.lines.push(key)))
  await world.until(former.drain())
  const job = await worker(world, "job", notes2, pages)
  await world.until(rename(job))
  await world.until(rename(job))
  for (const key of ["ada", "bob"]) {
    expect(await world.until(job.readCheckpoint(pages, key))).toEqual({ lines: [key] })
    expect(await world.until(job.readCheckpoint(notes2, key))).toBeUndefined()
  }
})
