// What every store has to do, by the comments of src/locks/store.ts: run by the test of each store that needs no server.
// It covers one process only; races between processes are tests/integration/file-hammer.test.ts's.
import { Buffer } from "node:buffer"
import { describe, expect, it } from "vitest"
import { ABSENT, type Area, type Generation, type ObjectRef, type ObjectStore } from "../../../src/locks/store.ts"

const options = { deadline: 5000 }
const limit = 65_536

export const bytes = (body: string): Uint8Array => new TextEncoder().encode(body)

/** A put that must be applied. */
export async function write(
  store: ObjectStore,
  ref: ObjectRef,
  expected: Generation,
  body: string,
): Promise<Generation> {
  const answer = await store.put(ref, expected, bytes(body), options)
  if (answer.kind !== "applied") throw new Error(`the put was ${answer.kind}`, { cause: answer })
  return answer.generation
}

/** The text of an object, or the kind of the answer where there is none. */
export async function text(store: ObjectStore, ref: ObjectRef): Promise<string> {
  const answer = await store.read(ref, { ...options, limit })
  return answer.kind === "found" ? new TextDecoder().decode(answer.body) : answer.kind
}

/** All names of an area, page by page. */
export async function names(store: ObjectStore, area: Area, prefix: string): Promise<string[]> {
  const found: string[] = []
  let after: string | undefined
  do {
    const page = await store.list(area, { ...options, prefix, ...(after === undefined ? {} : { after }) })
    found.push(...page.items.map((item) => item.name))
    after = page.next
  } while (after !== undefined)
  return found
}

const lease: ObjectRef = { area: "leases", name: "user-42" }
const head: ObjectRef = { area: "state", name: "user-42/head" }

/** `make` settles with a store that is empty and started. */
export function describeContract(make: () => Promise<ObjectStore>): void {
  describe("by the contract of a store", () => {
    it("answers absent for what was never written", async () => {
      const store = await make()
      expect(await text(store, lease)).toBe("absent")
      expect(await text(store, head)).toBe("absent")
    })

    it("creates once, and refuses to create what is there", async () => {
      const store = await make()
      await write(store, lease, ABSENT, "first")
      expect(await store.put(lease, ABSENT, bytes("second"), options)).toMatchObject({ kind: "refused" })
      expect(await text(store, lease)).toBe("first")
    })

    it.each([lease, head])("writes $area on the newest generation only", async (ref) => {
      const store = await make()
      const first = await write(store, ref, ABSENT, "first")
      const second = await write(store, ref, first, "second")
      for (const stale of [ABSENT, first, "999", "not a generation"])
        expect(await store.put(ref, stale, bytes("stale"), options)).toMatchObject({ kind: "refused" })
      expect(await store.read(ref, { ...options, limit })).toMatchObject({ kind: "found", generation: second })
      expect(await text(store, ref)).toBe("second")
    })

    it.each([lease, head])("lets one of twenty concurrent writers of a generation of $area through", async (ref) => {
      const store = await make()
      const first = await write(store, ref, ABSENT, "first")
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, writer) => store.put(ref, first, bytes(`by ${writer}`), options)),
      )
      const winners = answers.flatMap((answer, writer) => (answer.kind === "applied" ? [`by ${writer}`] : []))
      expect(winners).toHaveLength(1)
      expect(await text(store, ref)).toBe(winners[0])
    })

    it("answers unchanged for the generation that the reader knows, and found for any other", async () => {
      const store = await make()
      const first = await write(store, lease, ABSENT, "first")
      const read = (known: Generation) => store.read(lease, { ...options, limit, known })
      expect(await read(first)).toMatchObject({ kind: "unchanged", generation: first })
      const second = await write(store, lease, first, "second")
      expect(await read(first)).toMatchObject({ kind: "found", generation: second })
    })

    it.each([lease, head])("answers tooLarge for a body of $area over the limit, with its generation", async (ref) => {
      const store = await make()
      const generation = await write(store, ref, ABSENT, "12345")
      expect(await store.read(ref, { ...options, limit: 4 })).toMatchObject({ kind: "tooLarge", generation })
      expect(await store.read(ref, { ...options, limit: 5 })).toMatchObject({ kind: "found", generation })
    })

    it.each([lease, head])("keeps an empty body of $area apart from no object", async (ref) => {
      const store = await make()
      await write(store, ref, ABSENT, "")
      expect(await text(store, ref)).toBe("")
      expect(await store.put(ref, ABSENT, bytes("again"), options)).toMatchObject({ kind: "refused" })
    })

    it("keeps every byte of a body of a megabyte", async () => {
      const store = await make()
      const body = Uint8Array.from({ length: 2 ** 20 }, (_, place) => (place * 31) % 256)
      await store.put(head, ABSENT, body, options)
      const answer = await store.read(head, { ...options, limit: 2 ** 20 })
      expect(answer.kind === "found" && Buffer.compare(answer.body, body)).toBe(0)
    })

    it("hands out copies: what a caller does to a body later changes nothing", async () => {
      const store = await make()
      const body = Buffer.from("as it was")
      await store.put(lease, ABSENT, body, options)
      body.fill(0)
      const answer = await store.read(lease, { ...options, limit })
      if (answer.kind === "found") answer.body.fill(0)
      expect(await text(store, lease)).toBe("as it was")
    })

    it("deletes on the newest generation only", async () => {
      const store = await make()
      const first = await write(store, lease, ABSENT, "first")
      const second = await write(store, lease, first, "second")
      for (const stale of [ABSENT, first, "999", "not a generation"])
        expect(await store.remove(lease, stale, options)).toMatchObject({ kind: "refused" })
      expect(await text(store, lease)).toBe("second")
      expect(await store.remove(lease, second, options)).toMatchObject({ kind: "applied", generation: second })
      expect(await text(store, lease)).toBe("absent")
    })

    it("refuses to delete what is absent or deleted", async () => {
      const store = await make()
      for (const generation of [ABSENT, "1"])
        expect(await store.remove(lease, generation, options)).toMatchObject({ kind: "refused" })
      const first = await write(store, lease, ABSENT, "first")
      await store.remove(lease, first, options)
      for (const generation of [ABSENT, first])
        expect(await store.remove(lease, generation, options)).toMatchObject({ kind: "refused" })
    })

    it.each([lease, head])("never repeats a generation of $area, also after deletes", async (ref) => {
      const store = await make()
      const generations: Generation[] = []
      for (let life = 0; life < 4; life++) {
        const created = await write(store, ref, ABSENT, `life ${life}`)
        const last = await write(store, ref, created, `life ${life}, changed`)
        generations.push(created, last)
        await store.remove(ref, last, options)
      }
      expect(new Set(generations).size).toBe(8)
      for (const old of generations)
        expect(await store.put(ref, old, bytes("from a former life"), options)).toMatchObject({ kind: "refused" })
      expect(await text(store, ref)).toBe("absent")
    })

    it("stores names that look alike as objects of their own", async () => {
      const store = await make()
      const alike = ["a", "a=2fb", "a_b", "a=252fb", "=41=2f=42", "a-b", "a.b", "a~b", "ab", "a=2e", "0000000000000001"]
      for (const name of alike) await write(store, { area: "leases", name }, ABSENT, name)
      for (const name of alike) expect(await text(store, { area: "leases", name })).toBe(name)
      expect(await names(store, "leases", "")).toEqual(alike.toSorted())
    })

    it("keeps its areas apart", async () => {
      const store = await make()
      await write(store, { area: "leases", name: "same" }, ABSENT, "lease")
      expect(await text(store, { area: "probe", name: "same" })).toBe("absent")
      expect(await names(store, "state", "")).toEqual([])
    })

    it("lists by prefix, in order, with generations, and without what was deleted", async () => {
      const store = await make()
      const create = (name: string): Promise<Generation> => write(store, { area: "state", name }, ABSENT, "1")
      await Promise.all(["b/head", "a/head", "a/17-1-x", "a-b/head", "a.b/head", "ab/head"].map(create))
      for (const name of ["a/16-9-y", "a/gone"])
        await store.remove({ area: "state", name }, await create(name), options)
      const all = ["a-b/head", "a.b/head", "a/17-1-x", "a/head", "ab/head", "b/head"]
      expect(await names(store, "state", "")).toEqual(all)
      expect(await names(store, "state", "a/")).toEqual(["a/17-1-x", "a/head"])
      expect(await names(store, "state", "a/17")).toEqual(["a/17-1-x"])
      expect(await names(store, "state", "a")).toEqual(all.slice(0, 5))
      expect(await names(store, "state", "c")).toEqual([])
      const page = await store.list("state", { ...options, prefix: "b/" })
      const seen = await store.read({ area: "state", name: "b/head" }, { ...options, limit })
      expect(page.items).toEqual([{ name: "b/head", generation: seen.kind === "found" && seen.generation }])
    })

    it("lists more than a page holds, each name once and in order, and goes on after any name", async () => {
      const store = await make()
      const many = Array.from({ length: 1203 }, (_, number) => `n${String(number).padStart(5, "0")}`)
      for (const name of many.toReversed()) await write(store, { area: "leases", name }, ABSENT, "1")
      const page = await store.list("leases", { ...options, prefix: "n" })
      expect(page.items.length).toBeLessThan(many.length)
      expect(page.next).toBe(page.items.at(-1)?.name)
      expect(await names(store, "leases", "n")).toEqual(many)
      const rest = await store.list("leases", { ...options, prefix: "n", after: "n01200x" })
      expect(rest.items.map((item) => item.name)).toEqual(["n01201", "n01202"])
      expect(rest.next).toBeUndefined()
    }, 30_000)

    it("closes as often as it is asked to", async () => {
      const store = await make()
      await expect(Promise.all([store.close(), store.close()])).resolves.toEqual([undefined, undefined])
    })
  })
}
