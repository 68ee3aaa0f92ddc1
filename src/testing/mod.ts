/**
 * The entry `leasehold/testing`: what tests of code that uses leasehold need. Locks and time are simulated; the
 * protocol is the real one.
 *
 * @module
 */
import "../runtime/least-node.ts"

export { layerTestClock } from "../runtime/bridges/effect-clock.ts"
export { VirtualTime, type VirtualTimeOptions } from "../runtime/time/virtual-time.ts"
export {
  conformance,
  type ConformanceCase,
  ConformanceError,
  type ConformanceOptions,
  type MakeStore,
  type Verdict,
} from "./conformance/mod.ts"
export {
  check,
  type CheckOptions,
  type CheckResult,
  type ClockError,
  type GuardResult,
  smallestGuard,
} from "./check/mod.ts"
export { FakeLock, type FakeLockOptions } from "./fake-lock.ts"
export { type FakeProcess, type FakeWorld, fakeWorld, type FakeWorldOptions } from "./fake-world.ts"
export {
  allInvariants,
  checkTrace,
  type Found,
  type Invariant,
  invariants,
  TraceWatch,
  type Violation,
  type Watch,
} from "./invariants/mod.ts"
export * from "./simulate/mod.ts"
export { type TestWorker, testWorker, type TestWorkerOptions, type WorkerFault } from "./test-worker/mod.ts"

// Traces, until leasehold/inspector is an entry of its own.
export type { Recorded } from "../trace/recorded-store.ts"
export type { RecorderParts } from "../trace/worker-lines.ts"
export { traceTable, type TraceTableOptions } from "../trace/table.ts"
export { timelineHtml, type TimelineMark, type TimelineOptions } from "../inspector/timeline.ts"
export { TraceRecorder, type TraceRecorderOptions, type WorkerRecorder } from "../inspector/recorder.ts"
export { appliedWrite, type AppliedWrite } from "../trace/applied.ts"
export { mergeTraces } from "../trace/merge.ts"
export { formatTrace, formatTraceLine, isTraceLine, parseTrace } from "../trace/trace-text.ts"
export * from "../trace/trace.ts"
export { traceHash } from "../runtime/time/hash.ts"
