// Lines and rows for tests of the live model, with what a test doesn't care about filled in.
import type { SandboxRow, WorkerRow } from "../../../src/inspector/live/model/wire.ts"
import { unknownWorker } from "../../../src/inspector/live/model/worker-lines.ts"
import type { SandboxStateValue } from "../../../src/trace/state-value.ts"
import type { LockLine, StateLine } from "../../../src/trace/trace.ts"

export const running: SandboxStateValue = { owning: { work: "running", lease: "healthy" } }
export const settling: SandboxStateValue = { handingOff: { work: "settling", lease: "healthy" } }
export const waiting: SandboxStateValue = { waiting: "watching" }

export const state = (key: string, value: SandboxStateValue, at = 1000, more: Partial<StateLine> = {}): StateLine => ({
  ...{ kind: "state", at, worker: "a", key, value, token: null },
  ...more,
})

export const lock = (key: string, type: LockLine["type"], more: Partial<LockLine> = {}): LockLine => ({
  ...{ kind: "lock", at: 1000, wall: 1000, worker: "a", key, type, ownerId: "a1" },
  ...more,
})

export const row = (more: Partial<SandboxRow> = {}): SandboxRow => ({
  ...{ worker: "a", key: "order/1", value: running, since: 0, token: 1, deadline: null, ownedSince: null, owner: null },
  ...{ waiterId: null, leaving: null, stuck: null, error: null, handoffs: 0 },
  ...more,
})

export const worker = (more: Partial<WorkerRow> = {}): WorkerRow => ({
  ...unknownWorker("a"),
  ...{ ownerId: "a1", ttl: 30_000, guard: 3000 },
  ...more,
})
