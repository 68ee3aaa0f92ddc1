/**
 * The chart of one sandbox, from the request for its key to its end: a pure machine. It says in named commands what is
 * to be done, and learns from events what was done. It starts nothing, waits for nothing and throws nothing itself. The
 * runtime carries the commands out (commanded.ts). XState's pure `transition()` lists them as data.
 *
 * What holds by construction (docs/invariants.md names the tests):
 * - (a) The `lease` region spans owning and handingOff.
 * - (b) `releasing` follows only work that has settled, and a checkpoint that is stored or has failed for good.
 * - (c) Loss aborts the work and saves nothing.
 * - (d) A handoff that is asked for while restoring is honoured after it.
 * - (e) Every effect reports back as an event.
 * - (f) Every state that waits says for what, and for how long. Its command has a limit, and the state a way out once
 *   that is over. Three states have no limit. `running` waits for a reason to leave. In `stuck` the lease is renewed
 *   until the work, or the process, ends. `queued` ends when those in front have ended, each within its own limits.
 */
import { setup, type EventObject, type MetaObject, type StateMachine, type StateSchema } from "xstate"
import { ruleOf } from "./reasons.ts"
import type {
  ChartCommand,
  ChartCommands,
  ChartContext,
  ChartEvent,
  ChartFailure,
  ChartGuard,
  ChartInput,
  ChartLimits,
  EndReason,
  SandboxStateValue,
} from "./types.ts"

const defaultLimits: ChartLimits = {
  acquireWithin: 45_000,
  reconcileWithin: 15_000,
  releaseWithin: 25_000,
}

/** A command: without handlers it is only data. */
const command = (): void => {}

/** Why a sandbox that was owned ends, or ended. */
export const endReason = (context: ChartContext): EndReason =>
  context.failure === undefined ? (context.leaving ?? "lost") : "failed"

const chart = setup({
  types: {
    context: {} as ChartContext,
    events: {} as ChartEvent,
    input: {} as ChartInput,
  },
  actions: {
    backOff: command,
    acquire: command,
    reconcile: command,
    restore: command,
    run: command,
    abortWork: (_, _params: ChartCommands["abortWork"]) => {},
    settle: command,
    reportStuck: command,
    checkpoint: command,
    reportFailure: command,
    close: command,
    release: command,
    abandon: command,
  },
  guards: {
    withoutBackOff: ({ context }) => context.backOff === 0,
    isDegraded: ({ context }) => context.lease === "degraded",
    isSuspect: ({ context }) => context.lease === "suspect",
    isLeaving: ({ context }) => context.leaving !== undefined,
    isRemoval: ({ context }) => context.purpose === "remove",
    hasFailed: ({ context }) => context.failure !== undefined,
    wasGranted: ({ context }) => context.granted || ruleOf(context.leaving)?.isForAnother === true,
    isContended: ({ event }) => event.type === "lock.refused" && event.how === "contended",
    isTimedOut: ({ event }) => event.type === "lock.refused" && event.how === "timedOut",
    isCancelled: ({ event }) => event.type === "lock.refused" && event.how === "cancelled",
    isUnknown: ({ event }) => event.type === "lock.released" && event.result === "unknown",
    isLostAlready: ({ event }) => event.type === "lock.released" && event.result === "alreadyLost",
  },
})
const { assign } = chart

interface Args {
  readonly context: ChartContext
  readonly event: ChartEvent
}

const noteAcquired = assign({
  token: ({ context, event }) => (event.type === "lock.acquired" ? event.token : context.token),
})
const noteRestored = assign({
  token: ({ context, event }) => (event.type === "work.restored" ? event.token : context.token),
})
const noteError = assign({ error: ({ context, event }: Args) => ("error" in event ? event.error : context.error) })
const noteLeaving = assign({
  leaving: ({ context, event }) => context.leaving ?? (event.type === "leave" ? event.reason : "handoff"),
})
const noteRemoval = assign({ leaving: "removed" })
/** The first failure is the one that counts: what follows it is its consequence. */
const noteFailed = (during: ChartFailure["during"]) =>
  assign({
    failure: ({ context, event }: Args) =>
      context.failure ?? ("error" in event ? { during, error: event.error } : { during }),
  })
const degrade = assign({ lease: "degraded" })
const suspect = assign({ lease: "suspect" })
const heal = assign({ lease: "healthy" })

/**
 * Each reason to leave is passed on, not only the first: a process that ends leaves sooner than one that was asked for
 * a key.
 */
const abort = {
  type: "abortWork",
  params: ({ context, event }: Args) => ({ reason: event.type === "leave" ? event.reason : endReason(context) }),
} as const

/** Loss ends everything at once, wherever the work is. The runtime watches work that ignores the abort. */
const lost = {
  target: "#sandbox.released.lost",
  actions: [noteError, { type: "abortWork", params: { reason: "lost" } }, "abandon"],
} as const

/** What the lock says when it has no lease to give. */
const refused = [
  { guard: "isContended", target: "#sandbox.released.contended", actions: noteError },
  { guard: "isTimedOut", target: "#sandbox.released.timedOut", actions: noteError },
  { guard: "isCancelled", target: "#sandbox.released.cancelled", actions: noteError },
  { target: "#sandbox.released.failed", actions: [noteError, noteFailed("acquire")] },
] as const

/** In both states in which the lock tries: they differ in what one sees. */
const whileAcquiring = {
  "lock.acquired": { target: "#sandbox.owning", actions: [noteAcquired, "restore"] },
  "lock.refused": refused,
  "lock.overran": "#sandbox.acquiring.reconciling",
  leave: { target: "#sandbox.acquiring.reconciling", actions: noteLeaving },
} as const

/** The region that both owning and handingOff have; entered anew, it goes on where the lease is. */
const leaseRegion = chart.createStateConfig({
  initial: "healthy",
  states: {
    healthy: {
      always: [
        { guard: "isDegraded", target: "degraded" },
        { guard: "isSuspect", target: "suspect" },
      ],
      on: {
        "lock.degraded": { target: "degraded", actions: degrade },
        "lock.suspect": { target: "suspect", actions: suspect },
      },
    },
    degraded: {
      on: {
        "lock.recovered": { target: "healthy", actions: heal },
        "lock.suspect": { target: "suspect", actions: suspect },
      },
    },
    suspect: { on: { "lock.recovered": { target: "healthy", actions: heal } } },
  },
})

/** Where work that has settled goes on: to its checkpoint, or past it where there is nothing to save. */
const settled = [{ guard: "hasFailed", target: "releasing" }, { target: "checkpointing" }] as const

const machine = chart.createMachine({
  id: "sandbox",
  context: ({ input }) => ({
    key: input.key,
    purpose: input.purpose ?? "run",
    backOff: input.backOff ?? 0,
    limits: input.limits ? { ...defaultLimits, ...input.limits } : defaultLimits,
    token: undefined,
    lease: "healthy",
    leaving: undefined,
    failure: undefined,
    saved: "no",
    closed: false,
    granted: false,
    error: undefined,
  }),
  initial: "acquiring",
  states: {
    acquiring: {
      initial: "beginning",
      states: {
        beginning: {
          always: [{ guard: "withoutBackOff", target: "trying" }, { target: "backingOff" }],
        },
        backingOff: {
          description: "An attempt failed not long ago. Waits for as long as the back-off says.",
          entry: "backOff",
          on: {
            "backOff.over": "trying",
            leave: { target: "#sandbox.released.cancelled", actions: noteLeaving },
          },
        },
        trying: {
          description: "Waits for the lock's answer, for acquireWithin at most.",
          entry: "acquire",
          on: { "lock.waiting": "#sandbox.waiting", ...whileAcquiring },
        },
        reconciling: {
          description:
            "The acquire is interrupted. Waits for the lock to leave nothing behind: reconcileWithin at most.",
          entry: "reconcile",
          on: {
            "lock.acquired": { target: "#sandbox.handingOff.work.releasing", actions: noteAcquired },
            "lock.refused": [
              { guard: "isLeaving", target: "#sandbox.released.cancelled", actions: noteError },
              { target: "#sandbox.released.timedOut", actions: noteError },
            ],
            "lock.overran": [
              { guard: "isLeaving", target: "#sandbox.released.cancelled" },
              { target: "#sandbox.released.timedOut" },
            ],
          },
        },
      },
    },
    waiting: {
      initial: "watching",
      states: {
        watching: {
          description:
            "The key has an owner, which was asked to leave. Waits for it, for what is left of acquireWithin at most.",
          on: whileAcquiring,
        },
      },
    },
    owning: {
      type: "parallel",
      on: { "lock.lost": lost },
      states: {
        lease: leaseRegion,
        work: {
          initial: "restoring",
          states: {
            restoring: {
              description: "Waits for the head to be claimed, and then for restore: restoreWithin at most for each.",
              on: {
                "lock.releaseRequested": { actions: [noteLeaving, abort] },
                leave: { actions: [noteLeaving, abort] },
                "work.restored": [
                  {
                    guard: "isRemoval",
                    target: "#sandbox.handingOff.work.checkpointing",
                    actions: [noteRestored, noteRemoval],
                  },
                  { guard: "isLeaving", target: "#sandbox.handingOff.work.checkpointing", actions: noteRestored },
                  { target: "running", actions: noteRestored },
                ],
                "work.overran": { target: "#sandbox.handingOff.work.settling", actions: noteFailed("restore") },
                "work.failed": [
                  { guard: "isLeaving", target: "#sandbox.handingOff.work.releasing" },
                  {
                    target: "#sandbox.handingOff.work.releasing",
                    actions: [noteFailed("restore"), "reportFailure"],
                  },
                ],
              },
            },
            running: {
              description: "Uses begin, and run goes on. Waits, without a limit, for a reason to leave.",
              entry: "run",
              on: {
                "lock.releaseRequested": { target: "#sandbox.handingOff.work.settling", actions: noteLeaving },
                leave: { target: "#sandbox.handingOff.work.settling", actions: noteLeaving },
                "work.failed": {
                  target: "#sandbox.handingOff.work.settling",
                  actions: [noteFailed("run"), "reportFailure"],
                },
              },
            },
          },
        },
      },
    },
    handingOff: {
      type: "parallel",
      on: {
        "lock.lost": lost,
        "lock.granted": { actions: assign({ granted: true }) },
      },
      states: {
        lease: leaseRegion,
        work: {
          initial: "settling",
          states: {
            settling: {
              description:
                "No use begins, but those that a drain found waiting. Waits for run, uses and hooks past their limit, for settleWithin at most.",
              entry: [abort, "settle"],
              on: { "work.overran": "stuck", "work.queued": "queued", "work.settled": settled },
            },
            queued: {
              description:
                "The work has ended. Waits while others are saved, as many as the store answers at once, each within its limits.",
              on: { "work.settled": settled },
            },
            stuck: {
              description:
                "The work ignores that it should end. Waits for it, without a limit. The lease is renewed until then.",
              entry: "reportStuck",
              on: { "work.queued": "queued", "work.settled": settled, "work.closed": "releasing" },
            },
            checkpointing: {
              description: "Waits for the last checkpoint to be stored, for checkpointWithin at most.",
              entry: "checkpoint",
              on: {
                "work.overran": {
                  target: "settling",
                  actions: [assign({ saved: "failed" }), noteFailed("checkpoint")],
                },
                "checkpoint.stored": { target: "releasing", actions: assign({ saved: "stored" }) },
                "checkpoint.failed": {
                  target: "releasing",
                  actions: [assign({ saved: "failed" }), noteFailed("checkpoint"), "reportFailure"],
                },
              },
            },
            releasing: {
              description:
                "Waits for close, for closeWithin at most. Then for the lease to be released or granted: releaseWithin at most.",
              entry: "close",
              on: {
                "lock.overran": {
                  target: "#sandbox.released.failed",
                  actions: [noteFailed("release"), "reportFailure"],
                },
                "work.overran": "stuck",
                "work.closed": { actions: [assign({ closed: true }), "release"] },
                "lock.released": [
                  { guard: "hasFailed", target: "#sandbox.released.failed" },
                  { guard: "isLostAlready", target: "#sandbox.released.lost", actions: noteError },
                  { guard: "isUnknown", target: "#sandbox.released.failed", actions: noteFailed("release") },
                  { guard: "wasGranted", target: "#sandbox.released.handedOff" },
                  { target: "#sandbox.released.clean" },
                ],
              },
            },
          },
        },
      },
    },
    released: {
      description: "Over: the chart is done.",
      initial: "clean",
      states: {
        clean: { type: "final" },
        handedOff: { type: "final" },
        lost: { type: "final" },
        contended: { type: "final" },
        timedOut: { type: "final" },
        cancelled: { type: "final" },
        failed: { type: "final" },
      },
    },
  },
})

type Chart = StateMachine<
  ChartContext,
  ChartEvent,
  Record<string, never>,
  never,
  ChartCommand,
  ChartGuard,
  never,
  SandboxStateValue,
  string,
  ChartInput,
  {} | null | undefined,
  EventObject,
  MetaObject,
  StateSchema
>

/**
 * The same chart, done once it is released. XState calls a chart done only in a final state at its top. Such a state
 * has none below it, so `released` could no longer say how the sandbox ended.
 */
const endingAsDone = (made: Chart): Chart => {
  const transition = made.transition.bind(made)
  const provide = made.provide.bind(made)
  made.transition = (...args) => {
    const next = transition(...args)
    return next.status === "active" && next.matches("released") ? { ...next, status: "done", output: undefined } : next
  }
  made.provide = (implementations) => endingAsDone(provide(implementations))
  return made
}

/**
 * The sandbox chart. Start it with an input; its actions do nothing until the runtime provides them. Its actor is done,
 * and its observers complete, once it is `released`.
 */
export const sandboxChart: Chart = endingAsDone(machine)
