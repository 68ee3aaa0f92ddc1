// Every way in which an actor's or an observer's error could kill a process on a timer; it must live to its last line.
import { map } from "rxjs"
import { fromTransition, setup } from "xstate"
import { actorView, startActor } from "../../../src/runtime/bridges/start-actor.ts"
import { Hub } from "../../../src/runtime/observables.ts"
import { liveClock } from "../../../src/runtime/time/clock.ts"

const reported: string[] = []
const onError = (error: unknown): void => void reported.push(String(error))
const fail = (what: string) => (): never => {
  throw new Error(what)
}

const failing = setup({ actions: { fail: fail("on an event") } }).createMachine({
  on: { GO: { actions: "fail" }, OK: {} },
})
const actor = startActor(failing, { clock: liveClock, onError })
const view = actorView(actor, onError)
view.subscribe(() => {}) // has no error listener
view.subscribe(fail("in an observer of an actor"))
actor.send({ type: "OK" })
actor.send({ type: "GO" })
startActor(fromTransition(fail("in a transition"), 0), { clock: liveClock, onError }).send({ type: "GO" })

const hub = new Hub<number>(onError)
hub.observable.subscribe(fail("in an observer"))
hub.observable.pipe(map(fail("in an operator"))).subscribe(() => {})
hub.emit(1)
hub.observable.subscribe({ complete: fail("in complete") })
hub.complete()

liveClock.after(50, () => console.log(JSON.stringify(reported)))
