/**
 * What is true of every state of a key: each part of it is asserted, and a step that breaks it ends all about the key.
 */
import { describe, expect, it } from "vitest"
import { ProtocolFaultError } from "../../../../src/locks/api/errors.ts"
import { step } from "../../../../src/locks/protocol/reducer.ts"
import { isHeld } from "../../../../src/locks/protocol/rules/authority.ts"
import { assertSound, assertSoundWrites } from "../../../../src/locks/protocol/rules/invariant.ts"
import type { Hold, Input, LockState, Phases } from "../../../../src/locks/protocol/rules/state.ts"
import { plus } from "../../../../src/locks/protocol/rules/time.ts"
import { safeStep } from "../../../../src/locks/protocol/safe-step.ts"
import { acquire, type ProcessModel } from "../process-model.ts"
import { World } from "../world.ts"

type In<N extends keyof Phases> = LockState & { readonly phase: Phases[N] }

/** A state of that phase; throws where the process is in another. */
function stateOf<N extends keyof Phases>({ state }: ProcessModel, name: N): In<N> {
  if (!isIn(state, name)) throw new Error(`${state.config.id} is ${state.phase.name}`)
  return state
}

const isIn = <N extends keyof Phases>(state: LockState, name: N): state is In<N> => state.phase.name === name

/** An owner's state, with something else in its hold. */
function owned(change: (hold: Hold) => Partial<Hold> = () => ({})): LockState {
  const world = new World()
  const state = stateOf(world.owner("a"), "owning")
  const { hold } = state.phase
  return { ...state, phase: { name: "owning", hold: { ...hold, ...change(hold) } } }
}

/** An owner whose renewal is under way. */
function renewing(): LockState {
  const world = new World()
  const a = world.owner("a")
  world.nextWrite(a)
  return a.state
}

/** A waiter whose mark is under way. */
function marking(): LockState {
  const world = new World()
  world.owner("a")
  const b = world.process("b")
  world.send(b, acquire())
  world.nextWrite(b)
  return b.state
}

/** One that leaves, its release under way. */
function leaving(): In<"leaving"> {
  const world = new World()
  const a = world.owner("a")
  world.send(a, { type: "release" })
  world.nextWrite(a)
  return stateOf(a, "leaving")
}

/** One that gives up, its mark not yet taken back, and its caller not yet told. */
function clearing(): In<"clearing"> {
  const world = new World()
  world.owner("a")
  const b = world.waiter("b")
  b.network = "held"
  world.send(b, { type: "cancel" })
  return stateOf(b, "clearing")
}

const never = { mono: Number.NaN, boot: Number.NaN }

const nowIn = ({ sense }: LockState): Parameters<typeof step>[2] => ({ ...sense.last, wall: 0, fresh: "f", draw: 0.5 })

describe("the invariant of a state", () => {
  it("holds of an owner, a waiter, one that leaves and one that gives up", () => {
    for (const state of [owned(), renewing(), marking(), leaving(), clearing()]) {
      expect(() => assertSound(state)).not.toThrow()
      expect(() => assertSoundWrites(state)).not.toThrow()
    }
  })

  it.each<readonly [string, () => LockState]>([
    ["a deadline that is no time", () => owned(() => ({ deadline: never }))],
    ["a deadline that is over", () => owned(({ deadline }) => ({ deadline: plus(deadline, -30_000) }))],
    ["a deadline further ahead than a ttl", () => owned(({ deadline }) => ({ deadline: plus(deadline, 10_000) }))],
    ["no time to renew at", () => owned(() => ({ renewAt: never }))],
    ["a token that nobody has seen", () => owned(({ token }) => ({ token: token + 1 }))],
    ["a raise to a lower token", () => owned(({ token }) => ({ raising: token }))],
    ["another ownership in the record", () => owned(() => ({ nonce: "another" }))],
    ["an older write of its own in the record", () => owned(() => ({ opId: "another" }))],
    ["another owner in the record", () => ({ ...owned(), config: { ...owned().config, id: "z" } })],
    ["an owner of a record that is absent", () => ({ ...owned(), view: { ...owned().view!, record: undefined } })],
    ["an owner that isn't observed", () => ({ ...owned(), observedOwner: undefined })],
    ["a waiter that isn't there", () => ({ ...owned(), observedWaiter: owned().observedOwner })],
    ["a line that isn't there", () => ({ ...owned(), observedLine: [owned().observedOwner!] })],
    ["a request under way that wasn't the last", () => ({ ...renewing(), requests: 1000 })],
    ["a request of an epoch to come", () => ({ ...renewing(), flight: { ...renewing().flight!, epoch: 9 } })],
    ["a write under way that is forgotten", () => ({ ...renewing(), sent: [] })],
    [
      "a write for another version that may land",
      () => ({ ...renewing(), sent: renewing().sent.map((sent) => ({ ...sent, expected: "g0" })) }),
    ],
    ["a key at rest with a request under way", () => ({ ...renewing(), phase: { name: "idle" } })],
    ["a leave that was sent and is forgotten", () => ({ ...leaving(), phase: { ...leaving().phase, opIds: [] } })],
    ["a leave past its time", () => ({ ...leaving(), phase: { ...leaving().phase, until: leaving().sense.last } })],
    [
      "a caller that isn't told in time",
      () => ({ ...clearing(), phase: { ...clearing().phase, settleBy: clearing().sense.last } }),
    ],
    ["clearing past its time", () => ({ ...clearing(), phase: { ...clearing().phase, until: never } })],
  ])("refuses %s", (_, made) => {
    expect(() => assertSound(made())).toThrow(ProtocolFaultError)
  })

  it.each<readonly [string, () => LockState, object]>([
    ["a renewal that names another owner", renewing, { ownerId: "z" }],
    ["a mark that extends the owner's lease", marking, { expiresAt: 4e9 }],
    ["a release that leaves its owner there", leaving, {}],
  ])("refuses %s", (name, made, change) => {
    const state = made()
    const { owner, ownerId, expiresAt } = state.view!.record!.body
    const kept = name.startsWith("a release") ? { owner, ownerId, expiresAt } : {}
    const sent = state.sent.map((each) => ({
      ...each,
      body: JSON.stringify({ ...(JSON.parse(each.body) as object), ...kept, ...change }),
    }))
    expect(() => assertSoundWrites({ ...state, sent })).toThrow(ProtocolFaultError)
  })

  it("is asserted by each step", () => {
    const state = owned(() => ({ deadline: never }))
    expect(() => step(state, { type: "tick" }, nowIn(state))).toThrow(/deadline isn't ahead/)
  })
})

describe("a step that throws, in production", () => {
  const faulty: Input = { type: "read", id: 1, answer: undefined as never }

  /** The end that it comes to, once the fault was reported. */
  function ended(state: LockState, input: Input): ReturnType<typeof safeStep> {
    const faults: ProtocolFaultError[] = []
    const end = safeStep(
      state,
      input,
      nowIn(state),
      () => true,
      (fault) => faults.push(fault),
    )
    expect(faults).toHaveLength(1)
    expect(end.state.phase).toEqual({ name: "idle" })
    expect(end.state.requests).toBe(state.requests)
    expect(isHeld(end.state, nowIn(state))).toBe(false)
    expect(() => step(end.state, acquire(), nowIn(state))).not.toThrow()
    return end
  }

  it("loses the lease of an owner at once, and sends nothing more", () => {
    const { commands, events } = ended({ ...renewing(), requests: 1000 }, { type: "tick" })
    expect(commands).toEqual([{ type: "abandon", id: renewing().flight!.id }])
    expect(events).toMatchObject([{ type: "Lost", error: { reason: "fault", cause: { _tag: "ProtocolFaultError" } } }])
  })

  it("tells one that waits, one that gives up and one that leaves", () => {
    const seeking = marking()
    expect(ended({ ...seeking, requests: 1000 }, { type: "tick" }).events).toMatchObject([
      { type: "GaveUp", error: { _tag: "ProtocolFaultError", retryable: false } },
    ])
    const state = clearing()
    expect(ended({ ...state, requests: 1000 }, { type: "tick" }).events).toMatchObject([
      { type: "GaveUp", error: { _tag: "LockCancelledError" } },
    ])
    expect(ended({ ...leaving(), requests: 1000 }, { type: "tick" }).events).toMatchObject([
      { type: "Released", result: "unknown" },
    ])
  })

  it("tells one that has just asked, or asked again to leave", () => {
    const broken = { ...owned(), phase: { name: "idle" }, observedOwner: undefined } as const
    expect(ended(broken, acquire()).events).toMatchObject([{ type: "GaveUp", error: { key: "k" } }])
    const { hold, note, opIds } = leaving().phase
    const again = { ...broken, phase: { name: "idle", left: { hold, note, opIds } } } as const
    expect(ended(again, { type: "release" }).events).toMatchObject([{ type: "Released", result: "unknown" }])
    expect(ended(broken, { type: "tick" }).events).toEqual([])
  })

  it("names what was thrown where the protocol itself fails", () => {
    const state = renewing()
    const input = { ...faulty, id: state.flight!.id }
    const { events } = ended(state, input)
    expect(events).toMatchObject([{ error: { cause: { message: /a read can't be taken: TypeError/ } } }])
  })
})
