/** A proxy's log as lines of a trace. Pure. */
import type { FaultLine } from "../../../src/inspector/trace.ts"
import type { LogLine } from "./proxy.ts"

/** The line of a fault that befell a request of this worker. */
export function faultLine(worker: string, { at, n, method, object, fault }: LogLine): FaultLine {
  const { kind, ...detail } = fault
  return { kind: "fault", at, worker, fault: kind, detail: { ...detail, request: n, method, object } }
}
