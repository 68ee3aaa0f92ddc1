/**
 * The objects that users hold of a sandbox: a view to look at it, and the handle of one that runs. Both pass on to its
 * runtime.
 */
import { Observable } from "rxjs"
import type { LeaseView, ReleaseResult } from "../../locks/api/lock.ts"
import { actorView } from "../../runtime/bridges/start-actor.ts"
import { aFunction, refuseUnknown } from "../../runtime/input/options.ts"
import { guarded } from "../../runtime/observables.ts"
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { traced } from "../../trace/calls.ts"
import type { CallDetail, LinesOf } from "../../trace/worker-lines.ts"
import { USE_OPTIONS } from "../api/call-options.ts"
import type { Sandbox, SandboxEnding, SandboxView, UseOptions } from "../api/sandbox.ts"
import type { SandboxActor, SandboxSnapshot } from "../chart/types.ts"
import type { Activation } from "./activation.ts"
import type { SandboxRuntime } from "./runtime.ts"
import { use, type UseFn } from "./uses.ts"
import { CallWait } from "./waits.ts"

/** What handles need of their manager. */
export interface HandleParts {
  readonly clock: Clock
  readonly report: OnError
  readonly trace: LinesOf
}

/** A sandbox of this process, owned or not. */
export class RuntimeView implements SandboxView {
  readonly name: string
  readonly key: string
  readonly actor: SandboxActor
  readonly state$: Observable<SandboxSnapshot>
  readonly #runtime: SandboxRuntime

  constructor(runtime: SandboxRuntime, { report }: HandleParts) {
    this.name = runtime.definition.hooks.name
    this.key = runtime.key
    this.actor = actorView(runtime.actor, report)
    this.state$ = guarded(snapshotsOf(runtime), report)
    this.#runtime = runtime
  }

  get lease(): LeaseView | undefined {
    return this.#runtime.activation?.view
  }
}

/** XState's own observable doesn't begin with the present one. */
const snapshotsOf = (runtime: SandboxRuntime): Observable<SandboxSnapshot> =>
  new Observable((subscriber) => {
    subscriber.next(runtime.snapshot)
    return runtime.actor.subscribe(subscriber)
  })

/** The handle of a sandbox that has come to run. */
export class RuntimeHandle extends RuntimeView implements Sandbox<unknown> {
  readonly ended: Promise<SandboxEnding>
  readonly #runtime: SandboxRuntime
  readonly #activation: Activation
  readonly #clock: Clock
  readonly #trace: LinesOf

  constructor(runtime: SandboxRuntime, activation: Activation, parts: HandleParts) {
    super(runtime, parts)
    this.ended = runtime.ended
    this.#runtime = runtime
    this.#activation = activation
    this.#clock = parts.clock
    this.#trace = parts.trace
  }

  override get lease(): LeaseView {
    return this.#activation.view
  }

  async use<A>(fn: UseFn<A>, options: UseOptions = {}): Promise<A> {
    refuseUnknown("use", options, USE_OPTIONS)
    aFunction("fn", fn)
    const { lockKey: key } = this.#runtime
    const { signal, durable } = options
    using wait = new CallWait(this.#clock, { key, what: "a turn" }, options)
    const asked = (): CallDetail => ({ call: "use", key, ...wait.budget, durable: durable === true })
    return await traced(this.#trace, asked, () => use(this.#activation, fn, { wait, signal, durable }))
  }

  async checkpoint(): Promise<void> {
    const { turns, commits } = this.#activation
    turns.refuseInside("checkpoint")
    this.#activation.refuseEnding()
    const { lockKey: key } = this.#runtime
    using wait = new CallWait(this.#clock, { key, what: "a checkpoint" }, {})
    const asked = (): CallDetail => ({ call: "checkpoint", key, ...wait.budget })
    await traced(this.#trace, asked, () => wait.for(commits.request("manual")))
  }

  async release(): Promise<ReleaseResult> {
    this.#activation.turns.refuseInside("release")
    const { lockKey: key } = this.#runtime
    return traced(
      this.#trace,
      () => ({ call: "release", key }),
      () => this.#runtime.release(),
    )
  }
}
