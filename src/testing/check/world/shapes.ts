/**
 * What of a world's parts can still make a difference: two that differ in the rest lead to the same. Each thing that is
 * left out says why; that it is so is tried by a test, which follows both of every two worlds that were taken for one.
 */
import type { Hold, LockState, Phase, View } from "../../../locks/protocol/rules/state.ts"
import type { Sense } from "../../../locks/protocol/rules/time.ts"
import { ABSENT } from "../../../locks/stores/port.ts"
import type { CheckedActivation, Mail, Process, World } from "./world.ts"

/** A process, or what is left of one that has nothing to do any more. */
export function processShape(process: Process): unknown {
  const { lock, activation, state, since, ...rest } = process
  const asleep = state === "suspended" ? since : 0
  const known = {
    ...rest,
    id: 0,
    state,
    asleep,
    activation: activation && activationShape(activation, isThrough(process)),
  }
  return isThrough(process) ? known : { ...known, lock: lockShape(lock) }
}

/** It neither owns nor wants the key, and never will, nor leaves it again: nothing that it knows is of use. */
export const isThrough = ({ lock: { phase }, attempts }: Process): boolean =>
  phase.name === "idle" && phase.left === undefined && attempts === 0

/**
 * Letters that may still change anything: one that was written for a version that is gone doesn't, unless somebody
 * waits.
 */
export function lively({ mail, lease, head }: World): readonly Mail[] {
  return mail.filter(({ awaited, answer, of, command }) => {
    if (awaited || answer !== undefined || command.type === "read") return true
    if (of === "head") return command.expected === head.generation
    return command.expected === lease.generation || command.expected === ABSENT
  })
}

/**
 * What a former owner is judged by: whether it ran, and under which token. Without spacing nothing counts from a last
 * write.
 */
function activationShape(activation: CheckedActivation, isOver: boolean): unknown {
  const { head, log } = activation
  if (isOver && head.job === null) return { token: head.token, lost: head.lost, ran: log !== undefined }
  return head.settings.spacingMs > 0 ? activation : { ...activation, head: { ...head, lastWriteAt: null } }
}

/** Of its config nothing ever changes but who it belongs to. Records and writes are their bodies. */
function lockShape({ config, view, sense, phase, sent, ...lock }: LockState): unknown {
  return {
    ...lock,
    sent: sent.map(({ says: _, ...write }) => write),
    life: config.life,
    view: view && viewShape(view, config.spacing > 0),
    sense: senseShape(sense, config.clock === "coarse"),
    phase: phaseShape(phase),
  }
}

/** Where writes keep no distance nothing counts from the last one, and a view's own time only to tell when that was. */
function viewShape({ record, lastWrite, unseen, sentAt, ...view }: View, isSpaced: boolean): unknown {
  return { ...view, record: record?.body, ...(isSpaced && { lastWrite, unseen, sentAt }) }
}

/** Of two clocks it matters how far they are apart, and of a sample how far the store's time is from both. */
function senseShape({ last, epoch, sample }: Sense, isCoarse: boolean): unknown {
  const apart = micros(last.boot - last.mono)
  if (sample === undefined || isCoarse) return [apart, epoch, sample]
  const { storeTime, at } = sample
  return [apart, epoch, micros(storeTime - at.mono), micros(storeTime - at.boot)]
}

/** What floating point adds is no time. */
const micros = (ms: number): number => Math.round(ms * 1000) / 1000

/** Only that there is an error matters, not its words. */
function phaseShape(phase: Phase): unknown {
  switch (phase.name) {
    case "idle":
      return { ...phase, left: phase.left && { ...phase.left, hold: holdShape(phase.left.hold) } }
    case "seeking":
      return { ...phase, lastError: phase.lastError?._tag }
    case "clearing":
      return { ...phase, error: phase.error?._tag }
    case "owning":
      return { ...phase, hold: holdShape(phase.hold) }
    case "leaving":
      return { ...phase, hold: holdShape(phase.hold) }
  }
}

/** Nobody asks for a tenure: it was over when it began. */
const holdShape = ({ tenureUntil: _, ...hold }: Hold): unknown => hold
