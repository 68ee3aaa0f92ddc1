import { describe, expect, it } from "vitest"
import { createMachine, fromPromise, fromTransition, setup } from "xstate"
import { actorView, startActor } from "../../../src/runtime/bridges/start-actor.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { run } from "../programs.ts"

const fail = (what: string) => (): never => {
  throw new Error(what)
}

const reports = (): { errors: string[]; onError: (error: unknown) => void } => {
  const errors: string[] = []
  return { errors, onError: (error) => void errors.push(String(error)) }
}

const machine = setup({ actions: { fail: fail("in an action") } }).createMachine({
  initial: "a",
  states: { a: { after: { 100: "b" } }, b: {} },
  on: { FAIL: { actions: "fail" } },
})

describe("startActor", () => {
  it("starts the actor on the clock, with its input and its id", async () => {
    const time = new VirtualTime()
    const echo = setup({ types: { input: {} as string, context: {} as { word: string } } }).createMachine({
      context: ({ input }) => ({ word: input }),
    })
    const actor = startActor(machine, { clock: time })
    await time.advance(100)
    expect(actor.getSnapshot().value).toBe("b")
    const other = startActor(echo, { clock: time, input: "hello", id: "echo" })
    expect([other.getSnapshot().context.word, other.id]).toEqual(["hello", "echo"])
  })

  it("reports what fails: on an event, in a promise, and while it starts; and never throws", async () => {
    const time = new VirtualTime()
    const { errors, onError } = reports()
    startActor(machine, { clock: time, onError }).send({ type: "FAIL" })
    startActor(
      fromPromise(() => Promise.reject(new Error("rejected"))),
      { clock: time, onError },
    )
    startActor(createMachine({ entry: fail("on entry") }), { clock: time, onError })
    const unready = startActor(createMachine({ context: fail("in the context") }), { clock: time, onError })
    startActor(
      fromTransition((state: number) => state, fail("in the input") as never),
      { clock: time, onError },
    )
    await time.advance(0)
    expect(errors.toSorted()).toEqual([
      "Error: in an action",
      "Error: in the context",
      "Error: in the input",
      "Error: on entry",
      "Error: rejected",
    ])
    expect(unready.getSnapshot().status).toBe("error")
  })

  it("goes on from a persisted snapshot", () => {
    const time = new VirtualTime()
    const counter = fromTransition((count: number) => count + 1, 0)
    const first = startActor(counter, { clock: time })
    first.send({ type: "GO" })
    const second = startActor(counter, { clock: time, snapshot: first.getPersistedSnapshot() })
    second.send({ type: "GO" })
    expect(second.getSnapshot().context).toBe(2)
  })

  it("gives every inspection event, and isn't harmed by an inspector that throws", () => {
    const time = new VirtualTime()
    const { errors, onError } = reports()
    const types: string[] = []
    startActor(machine, { clock: time, inspect: (event) => void types.push(event.type) }).stop()
    expect(types).toContain("@xstate.snapshot")
    const actor = startActor(machine, { clock: time, inspect: fail("in the inspector"), onError })
    expect(actor.getSnapshot().status).toBe("active")
    expect(new Set(errors)).toEqual(new Set(["Error: in the inspector"]))
    actor.stop()
  })
})

describe("actorView", () => {
  it("shows snapshots and selections, and can neither send nor stop", async () => {
    const time = new VirtualTime()
    const view = actorView(startActor(machine, { clock: time }))
    const seen: unknown[] = []
    view.subscribe((snapshot) => seen.push(snapshot.value))
    const selected = view.select((snapshot) => snapshot.value === "b")
    selected.subscribe((isB) => seen.push(isB))
    await time.advance(100)
    expect([seen, selected.get(), view.getSnapshot().value]).toEqual([["b", true], true, "b"])
    expect(Object.keys(view).toSorted()).toEqual(["getSnapshot", "id", "select", "sessionId", "subscribe"])
  })

  it("reports and unsubscribes an observer that throws, of the actor and of a selection", async () => {
    const time = new VirtualTime()
    const { errors, onError } = reports()
    const actor = startActor(machine, { clock: time, onError })
    const view = actorView(actor, onError)
    const seen: unknown[] = []
    view.subscribe(fail("in an observer"))
    view.select((snapshot) => snapshot.value).subscribe(fail("in a selection"))
    view.subscribe({ next: (snapshot) => seen.push(snapshot.value), complete: fail("in complete") })
    await time.advance(100)
    actor.send({ type: "NOTHING" })
    actor.stop()
    expect(errors).toEqual(["Error: in an observer", "Error: in a selection", "Error: in complete"])
    expect(seen.at(-1)).toBe("b")
  })

  it("unsubscribes", async () => {
    const time = new VirtualTime()
    const view = actorView(startActor(machine, { clock: time }))
    const seen: unknown[] = []
    view.subscribe((snapshot) => seen.push(snapshot.value)).unsubscribe()
    await time.advance(100)
    expect(seen).toEqual([])
  })
})

it("no error of an actor or of an observer kills the process", async () => {
  const ended = await run("actors")
  expect(ended).toMatchObject({ code: 0, stderr: "" })
  expect((JSON.parse(ended.stdout) as string[]).toSorted()).toEqual(
    ["on an event", "in an observer of an actor", "in a transition", "in an observer", "in an operator", "in complete"]
      .map((what) => `Error: ${what}`)
      .toSorted(),
  )
})
