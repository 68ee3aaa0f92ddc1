// Pins that what a proxy did to a worker's requests fits into that worker's trace.
import { expect, it } from "vitest"
import { formatTraceLine, parseTrace } from "../../../src/inspector/trace-text.ts"
import { faultLine } from "./trace.ts"

it("a line of the proxy's log is a fault of the worker, with all that is known of it", () => {
  const fault = { kind: "status", when: "after", status: 503 } as const
  const line = faultLine("a", { at: 5, n: 3, method: "POST", object: "leases/k", fault })
  expect(line).toEqual({
    ...{ kind: "fault", at: 5, worker: "a", fault: "status" },
    detail: { when: "after", status: 503, request: 3, method: "POST", object: "leases/k" },
  })
  const header = formatTraceLine({ kind: "trace", version: 1, source: "live", seed: null, commit: null })
  expect(parseTrace(header + formatTraceLine(line)).lines).toEqual([line])
})
