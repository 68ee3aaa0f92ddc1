import { filter, firstValueFrom, map, of, type Subscription, Subject, switchMap } from "rxjs"
import { describe, expect, it } from "vitest"
import { guarded, Hub, StateHub } from "../../src/runtime/observables.ts"

const reports = (): { errors: string[]; onError: (error: unknown) => void } => {
  const errors: string[] = []
  return { errors, onError: (error) => void errors.push(String(error)) }
}

const fail = (what: string) => (): never => {
  throw new Error(what)
}

describe("a hub", () => {
  it("survives a throwing observer: it is reported and unsubscribed, the others go on", () => {
    const { errors, onError } = reports()
    const hub = new Hub<number>(onError)
    const seen: string[] = []
    hub.observable.subscribe((value) => seen.push(`before ${value}`))
    const throwing = hub.observable.subscribe(fail("thrown"))
    hub.observable.subscribe((value) => seen.push(`after ${value}`))
    hub.emit(1)
    hub.emit(2)
    expect(seen).toEqual(["before 1", "after 1", "before 2", "after 2"])
    expect([errors, throwing.closed]).toEqual([["Error: thrown"], true])
  })

  it("guards what is piped from it, operators that throw and observers without an error listener included", () => {
    const { errors, onError } = reports()
    const hub = new Hub<number>(onError)
    const seen: unknown[] = []
    hub.observable.pipe(map((n) => n * 2)).subscribe(fail("behind a pipe"))
    hub.observable.pipe(map(fail("in an operator"))).subscribe(() => {})
    hub.observable
      .pipe(
        filter((n) => n > 1),
        switchMap((n) => of(n, n + 1)),
        map((n) => `${n}!`),
      )
      .subscribe((value) => seen.push(value))
    hub.emit(1)
    hub.emit(2)
    expect(errors).toEqual(["Error: behind a pipe", "Error: in an operator"])
    expect(seen).toEqual(["2!", "3!"])
  })

  it("gives an error to the observer's own listener where it has one", () => {
    const { errors, onError } = reports()
    const hub = new Hub<number>(onError)
    const own: string[] = []
    hub.observable.pipe(map(fail("in an operator"))).subscribe({ error: (error: Error) => own.push(error.message) })
    hub.emit(1)
    expect([own, errors]).toEqual([["in an operator"], []])
  })

  it("reports what error and complete listeners throw", () => {
    const { errors, onError } = reports()
    const hub = new Hub<number>(onError)
    hub.observable.pipe(map(fail("first"))).subscribe({ error: fail("in error") })
    hub.observable.subscribe({ complete: fail("in complete") })
    hub.emit(1)
    hub.complete()
    expect(errors).toEqual(["Error: in error", "Error: in complete"])
  })

  it("tells every observer all events in one order, also those emitted while one is told", () => {
    const hub = new Hub<number>()
    const seen: string[] = []
    hub.observable.subscribe((value) => {
      seen.push(`a${value}`)
      if (value < 3) hub.emit(value + 1)
    })
    hub.observable.subscribe((value) => seen.push(`b${value}`))
    hub.emit(1)
    expect(seen).toEqual(["a1", "b1", "a2", "b2", "a3", "b3"])
  })

  it("keeps an observer's own this, and takes functions in place of an observer", () => {
    const hub = new Hub<number>()
    const observer = {
      sum: 0,
      next(value: number) {
        this.sum += value
      },
    }
    hub.observable.subscribe(observer)
    let last = 0
    hub.observable.subscribe((value) => (last = value))
    hub.observable.subscribe()
    hub.emit(2)
    hub.emit(3)
    expect([observer.sum, last]).toEqual([5, 3])
  })

  it("completes, also for later subscribers, and emits nothing afterwards", async () => {
    const hub = new Hub<number>()
    const seen: unknown[] = []
    hub.observable.subscribe({ next: (value) => seen.push(value), complete: () => seen.push("completed") })
    hub.complete()
    hub.emit(1)
    hub.observable.subscribe({ complete: () => seen.push("completed at once") })
    expect(seen).toEqual(["completed", "completed at once"])
    await expect(firstValueFrom(hub.observable)).rejects.toThrow("no elements")
  })

  it("holds no observer after 10,000 subscriptions came and went", () => {
    const hub = new Hub<number>()
    for (let cycle = 0; cycle < 10_000; cycle++) {
      const subscriptions: Subscription[] = [
        hub.observable.subscribe(() => {}),
        hub.observable.pipe(map((n) => n)).subscribe(() => {}),
      ]
      for (const subscription of subscriptions) subscription.unsubscribe()
    }
    expect(hub.observed).toBe(false)
  })
})

describe("a state hub", () => {
  it("replays the current value, and the last one after it completed", () => {
    const state = new StateHub("a")
    const seen: string[] = []
    const note = (name: string) => ({
      next: (value: string) => void seen.push(name + value),
      complete: () => void seen.push(`${name}.`),
    })
    state.observable.subscribe(note("1"))
    state.set("b")
    state.observable.subscribe(note("2"))
    state.complete()
    state.observable.subscribe(note("3"))
    expect(seen).toEqual(["1a", "1b", "2b", "1.", "2.", "3b", "3."])
    expect([state.value, state.observed]).toEqual(["b", false])
  })

  it("survives an observer that throws at the replay itself", () => {
    const { errors, onError } = reports()
    const state = new StateHub(1, onError)
    const subscription = state.observable.subscribe(fail("at the replay"))
    state.set(2)
    expect([errors, subscription.closed, state.observed]).toEqual([["Error: at the replay"], true, false])
  })

  it("knows what was set last, also while observers are told of what came before", () => {
    const state = new StateHub(0)
    const seen: number[][] = []
    state.observable.subscribe((value) => {
      if (value === 1) state.set(2)
      seen.push([value, state.value])
    })
    state.set(1)
    expect(seen).toEqual([
      [0, 0],
      [1, 2],
      [2, 2],
    ])
  })
})

it("guarded protects observers of any observable, its own errors included", () => {
  const { errors, onError } = reports()
  const source = new Subject<number>()
  const seen: number[] = []
  const observable = guarded(source, onError)
  observable.subscribe(fail("thrown"))
  observable.subscribe((value) => seen.push(value))
  source.next(1)
  source.error(new Error("of the source"))
  expect([seen, errors]).toEqual([[1], ["Error: thrown", "Error: of the source"]])
  expect(source.observed).toBe(false)
})
