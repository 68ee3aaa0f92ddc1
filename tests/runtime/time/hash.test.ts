import { expect, it } from "vitest"
import { sha256, TraceHash, traceHash } from "../../../src/runtime/time/hash.ts"

it("sha256 is the published value, of a string's UTF-8 and of bytes alike", () => {
  expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  expect(sha256("é")).toBe(sha256(Uint8Array.of(0xc3, 0xa9)))
})

it("a trace's hash grows with its entries and can be read on the way", () => {
  const hash = new TraceHash()
  hash.add({ a: 1 })
  const first = hash.hex()
  hash.add(["b", 2])
  expect(first).toBe(traceHash([{ a: 1 }]))
  expect(hash.hex()).toBe(traceHash([{ a: 1 }, ["b", 2]]))
  expect(hash.hex()).not.toBe(traceHash([["b", 2], { a: 1 }]))
})
