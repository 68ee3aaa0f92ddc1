/** Invoked logic with all its events, guards of every kind, final states with an output, done events. */
import { type AnyStateMachine, and, assign, fromPromise, not, or, raise, sendTo, setup, stateIn } from "xstate"

interface Context {
  readonly tries: number
}

const machine: AnyStateMachine = setup({
  types: {
    context: {} as Context,
    events: {} as { type: "submit" } | { type: "edit" } | { type: "cancel"; why: string },
  },
  actors: { pay: fromPromise(async () => "paid"), reserve: fromPromise(async () => 1) },
  guards: {
    isValid: () => true,
    isEmpty: () => false,
    triedLess: ({ context }, params: { than: number }) => context.tries < params.than,
  },
  actions: { notify: () => {}, track: (_, _params: { event: string }) => {} },
}).createMachine({
  id: "checkout",
  context: { tries: 0 },
  initial: "cart",
  states: {
    cart: {
      initial: "filling",
      states: {
        filling: {
          on: {
            submit: [
              { guard: and(["isValid", not("isEmpty")]), target: "reserving" },
              { guard: or([not("isValid"), stateIn({ cart: "filling" })]), actions: "notify" },
            ],
          },
        },
        reserving: {
          invoke: { src: "reserve", onDone: "reserved", onError: { target: "filling", actions: "notify" } },
        },
        reserved: { type: "final" },
      },
      onDone: "paying",
      on: { edit: { target: ".filling", actions: raise({ type: "submit" }) } },
    },
    paying: {
      invoke: {
        id: "payment",
        src: "pay",
        onSnapshot: { actions: assign({ tries: ({ context }) => context.tries }) },
        onDone: { target: "paid", actions: { type: "track", params: { event: "paid" } } },
        onError: [
          {
            guard: { type: "triedLess", params: { than: 3 } },
            target: "paying",
            reenter: true,
            actions: assign({ tries: ({ context }) => context.tries + 1 }),
          },
          { guard: ({ context }) => context.tries > 10, target: "failed", actions: sendTo("audit", { type: "alarm" }) },
          { target: "failed" },
        ],
      },
      on: {
        edit: { target: "paying" },
        cancel: { target: "#cancelled", description: "The card may be charged already." },
      },
    },
    paid: { type: "final", output: { ok: true } },
    failed: { type: "final" },
    cancelled: { id: "cancelled", type: "final" },
  },
})
export default machine
