// Small traces, written by hand: each line is what one worker, or the store, has to say.
import { checkTrace, type Invariant, type Violation } from "../../../src/testing/invariants/mod.ts"
import type { AppliedLine, CallLine, FaultLine, LockLine, TraceLine, WorkLine } from "../../../src/trace/trace.ts"

/** The lock key of all of them. */
export const key = "ledger/k"
const name = "ledger=2fk"

type Lock = (at: number, worker: string, more?: Partial<LockLine>) => LockLine

const lock =
  (type: LockLine["type"]): Lock =>
  (at: number, worker: string, more: Partial<LockLine> = {}): LockLine => ({
    ...{ kind: "lock", at, worker, key, type, ownerId: `${worker}.1`, wall: at },
    ...more,
  })

/** It has the key for `ms`, by its own clock. */
export const acquired = (at: number, worker: string, token: number, ms = 27_000): LockLine =>
  lock("Acquired")(at, worker, { token, how: "free", deadline: at + ms })
export const renewed = (at: number, worker: string, token: number, ms = 27_000): LockLine =>
  lock("Renewed")(at, worker, { token, deadline: at + ms })
export const lost: Lock = lock("Lost")
export const released: Lock = lock("Released")
export const granted: Lock = lock("Granted")
export const waiting: Lock = lock("Waiting")
export const gaveUp: Lock = lock("GaveUp")
export const asked = (at: number, worker: string, token: number, waiterId: string): LockLine =>
  lock("ReleaseRequested")(at, worker, { token, waiterId })

export const fault = (
  at: number,
  worker: string | null,
  kind: string,
  detail: FaultLine["detail"] = {},
): FaultLine => ({
  ...{ kind: "fault", at, worker, fault: kind, detail },
})

export const work = (
  at: number,
  worker: string,
  section: `${WorkLine["work"]} ${WorkLine["edge"]}`,
  token: number,
  id = 1,
): WorkLine => {
  const [what, edge] = section.split(" ") as [WorkLine["work"], WorkLine["edge"]]
  return { kind: "work", at, worker, id, key, token, work: what, edge }
}

export const call = (at: number, worker: string, edge: CallLine["edge"], budget = 30_000, id = 1): CallLine => ({
  ...{ kind: "call", at, worker, id, call: "use", edge, key, budget },
})

/** A head that took effect. */
export const head = (
  at: number,
  worker: string | null,
  {
    token,
    seq,
    sha256 = "s",
    nonce = `${worker}-${token}`,
    state = "inline",
  }: Record<"token" | "seq", number> & {
    readonly sha256?: string
    readonly nonce?: string
    readonly state?: "inline" | "removed"
  },
): AppliedLine => ({
  ...{ kind: "applied", at, worker, op: "put", area: "state", name: `${name}/head` },
  ...{ before: String(seq - 1), generation: String(seq), head: { token, nonce, seq, state, sha256 } },
})

/** A lease record that took effect. */
export const lease = (
  at: number,
  worker: string | null,
  ownerId: string | null,
  expiresAt = 0,
  waiterId: string | null = null,
): AppliedLine => ({
  ...{ kind: "applied", at, worker, op: "put", area: "leases", name, before: "1", generation: "2" },
  lease: { ownerId, token: 1, expiresAt, waiterId },
})

/** Somebody deleted it. */
export const removed = (at: number, worker: string | null, area: "leases" | "state" = "leases"): AppliedLine => ({
  ...{ kind: "applied", at, worker, op: "remove", area, before: "1", generation: "0" },
  name: area === "leases" ? name : `${name}/head`,
})

/** What one invariant says of a trace. */
export const told = (invariant: Invariant, ...lines: readonly TraceLine[]): string[] =>
  violations(invariant, ...lines).map(({ message }) => message)

/** The same, whole. */
export const violations = (invariant: Invariant, ...lines: readonly TraceLine[]): readonly Violation[] =>
  checkTrace({ lines }, [invariant])
