// Pins that what a proxy did to a worker's requests, and what took effect behind it, fits into that worker's trace.
import { Buffer } from "node:buffer"
import { describe, expect, it } from "vitest"
import { contentTypeOf, Paths } from "../../../src/locks/stores/gcs/connection/paths.ts"
import { Multipart } from "../../../src/locks/stores/gcs/http/multipart.ts"
import type { ObjectRef } from "../../../src/locks/stores/port.ts"
import { formatTraceLine, parseTrace } from "../../../src/trace/trace-text.ts"
import type { TraceLine } from "../../../src/trace/trace.ts"
import type { Delivered } from "./proxy.ts"
import { appliedLine, faultLine } from "./trace.ts"

const readBack = (line: TraceLine): unknown => {
  const header = formatTraceLine({ kind: "trace", version: 1, source: "live", seed: null, commit: null })
  return parseTrace(header + formatTraceLine(line)).lines[0]
}

it("a line of the proxy's log is a fault of the worker, with all that is known of it", () => {
  const fault = { kind: "status", when: "after", status: 503 } as const
  const line = faultLine("a", { at: 5, n: 3, method: "POST", object: "leases/k", fault })
  expect(line).toEqual({
    ...{ kind: "fault", at: 5, worker: "a", fault: "status" },
    detail: { when: "after", status: 503, request: 3, method: "POST", object: "leases/k" },
  })
  expect(readBack(line)).toEqual(line)
})

describe("a write that the server answered", () => {
  const paths = new Paths("", "bucket", "run/1")
  const multipart = new Multipart("unique")
  const lease: ObjectRef = { area: "leases", name: "counter=2fk" }
  const head: ObjectRef = { area: "state", name: "counter=2fk/head" }
  const place = ({ area, name }: ObjectRef): string => `run/1/${area}/${name}`
  const upload = (ref: ObjectRef, content: string, more: Partial<Delivered> = {}): Delivered => ({
    ...{ at: 5, object: place(ref) },
    request: {
      ...{ method: "POST", url: paths.upload(ref, "7"), headers: { "content-type": multipart.contentType } },
      body: Buffer.from(multipart.wrap(Buffer.from(content), contentTypeOf(ref))),
    },
    answer: { status: 200, headers: {}, body: Buffer.from('{"generation":"8"}') },
    ...more,
  })
  const lineOf = (delivered: Delivered) => appliedLine("a", "run/1", delivered)

  // Tests traces: What took effect at a real server is recorded by the proxy before it, not by its sender.
  it("is a line with what it says, as the server has it", () => {
    const content = `{"token":3,\r\n\r\n"nonce":"n","seq":2,"state":"inline","sha256":"abc"}`
    const line = lineOf(upload(head, content))!
    expect(line).toEqual({
      ...{ kind: "applied", at: 5, worker: "a", op: "put", ...head, before: "7", generation: "8" },
      head: { token: 3, nonce: "n", seq: 2, state: "inline", sha256: "abc" },
    })
    expect(readBack(line)).toEqual(line)
    expect(lineOf(upload(lease, '{"ownerId":"b","expiresAt":2}'))).toMatchObject({ lease: { ownerId: "b" } })
    expect(lineOf(upload(lease, "no record"))).not.toHaveProperty("lease")
  })

  it("is one also where it was a delete", () => {
    const remove = (status: number): Delivered => ({
      ...{ at: 5, object: place(lease), answer: { status, headers: {}, body: Buffer.alloc(0) } },
      request: { method: "DELETE", url: paths.remove(lease, "7"), headers: {}, body: Buffer.alloc(0) },
    })
    const line = { kind: "applied", at: 5, worker: "a", op: "remove", ...lease, before: "7", generation: "0" }
    expect(lineOf(remove(204))).toEqual(line)
    expect(lineOf(remove(404))).toBeUndefined()
  })

  it("is none where it was refused, a read, or of nobody's object", () => {
    expect(lineOf(upload(lease, "{}", { answer: { status: 412, headers: {}, body: Buffer.alloc(0) } }))).toBeUndefined()
    const { request } = upload(lease, "{}")
    const read = { ...request, method: "GET", url: paths.read(lease, "7") }
    expect(lineOf(upload(lease, "{}", { request: read }))).toBeUndefined()
    expect(lineOf(upload(lease, "{}", { object: "elsewhere/leases/k" }))).toBeUndefined()
  })
})
