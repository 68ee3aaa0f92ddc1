/**
 * What a proxy saw, as lines of a trace: the faults that it made, and, since it sees all writes of its worker and what
 * the server itself said to them, those that took effect. Pure.
 */
import type { Buffer } from "node:buffer"
import type { Area, ObjectRef } from "../../../src/locks/stores/port.ts"
import { appliedWrite } from "../../../src/trace/applied.ts"
import type { AppliedLine, FaultLine } from "../../../src/trace/trace.ts"
import type { Answer } from "./fault.ts"
import type { Delivered, LogLine } from "./proxy.ts"
import type { Outgoing } from "./upstream.ts"

/** The line of a fault that befell a request of this worker. */
export function faultLine(worker: string, { at, n, method, object, fault }: LogLine): FaultLine {
  const { kind, ...detail } = fault
  return { kind: "fault", at, worker, fault: kind, detail: { ...detail, request: n, method, object } }
}

/**
 * The line of a write that took effect, undefined for all else. Its time is that at which it was sent to the server:
 * later than all that its worker did before, earlier than all that anybody knew of it.
 */
export function appliedLine(worker: string, prefix: string, delivered: Delivered): AppliedLine | undefined {
  const { at, object, request, answer } = delivered
  const ref = refOf(object, prefix)
  const before = new URL(request.url, "http://proxy").searchParams.get("ifGenerationMatch")
  if (ref === undefined || before === null) return undefined
  const made = madeBy(request, answer)
  return made && { kind: "applied", at, ...appliedWrite({ worker, ...ref, before, ...made }) }
}

function refOf(object: string, prefix: string): ObjectRef | undefined {
  const [, area, name] = /^(leases|state|probe)\/(.+)$/.exec(object.slice(prefix.length + 1)) ?? []
  return object.startsWith(`${prefix}/`) && name !== undefined ? { area: area as Area, name } : undefined
}

/** The version that a write made. */
function madeBy(
  { method, headers, body }: Outgoing,
  answer: Answer,
): { readonly generation: string; readonly body: Uint8Array | undefined } | undefined {
  if (method === "DELETE" && (answer.status === 204 || answer.status === 200))
    return { generation: "0", body: undefined }
  if (method !== "POST" || answer.status !== 200) return undefined
  const { generation } = JSON.parse(answer.body.toString()) as { readonly generation: string }
  return { generation, body: contentOf(body, headers["content-type"] ?? "") }
}

/** The second part of a multipart upload: the object's content. */
function contentOf(body: Buffer, contentType: string): Uint8Array {
  const [, boundary] = /boundary="?([^";]+)/.exec(contentType) ?? []
  const second = body.indexOf(`--${boundary}`, boundary === undefined ? 0 : boundary.length)
  const from = body.indexOf("\r\n\r\n", second) + 4
  return body.subarray(from, body.lastIndexOf(`\r\n--${boundary}--`))
}
