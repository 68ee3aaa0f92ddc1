/** What users hold of a sandbox: a view to look at one, and the handle of one that runs. Both only pass on to its shell. */
import { Observable } from "rxjs"
import type { LeaseView, ReleaseResult } from "../../locks/api/lock.ts"
import { actorView } from "../../runtime/bridges/start-actor.ts"
import { aFunction, refuseUnknown } from "../../runtime/input/options.ts"
import { guarded } from "../../runtime/observables.ts"
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { traced } from "../../trace/calls.ts"
import type { LinesOf } from "../../trace/recorded-store.ts"
import type { Called } from "../../trace/worker-lines.ts"
import { USE_OPTIONS } from "../api/call-options.ts"
import type { Sandbox, SandboxEnding, SandboxView, UseOptions } from "../api/sandbox.ts"
import type { SandboxActor, SandboxSnapshot } from "../chart/types.ts"
import type { Shell } from "./shell.ts"
import type { Tenancy } from "./tenancy.ts"
import { use, type UseFn } from "./uses.ts"
import { Wait } from "./waits.ts"

/** What handles need of their manager. */
export interface HandleParts {
  readonly clock: Clock
  readonly report: OnError
  readonly trace: LinesOf
}

/** A sandbox of this process, owned or not. */
export class View implements SandboxView {
  readonly name: string
  readonly key: string
  readonly actor: SandboxActor
  readonly state$: Observable<SandboxSnapshot>
  readonly #shell: Shell

  constructor(shell: Shell, { report }: HandleParts) {
    this.name = shell.definition.hooks.name
    this.key = shell.key
    this.actor = actorView(shell.actor, report)
    this.state$ = guarded(snapshotsOf(shell), report)
    this.#shell = shell
  }

  get lease(): LeaseView | undefined {
    return this.#shell.tenancy?.view
  }
}

/** XState's own observable doesn't begin with the present one. */
const snapshotsOf = (shell: Shell): Observable<SandboxSnapshot> =>
  new Observable((subscriber) => {
    subscriber.next(shell.snapshot)
    return shell.actor.subscribe(subscriber)
  })

/** The handle of a sandbox that has come to run. */
export class Handle extends View implements Sandbox<unknown> {
  readonly ended: Promise<SandboxEnding>
  readonly #shell: Shell
  readonly #tenancy: Tenancy
  readonly #clock: Clock
  readonly #trace: LinesOf

  constructor(shell: Shell, tenancy: Tenancy, parts: HandleParts) {
    super(shell, parts)
    this.ended = shell.ended
    this.#shell = shell
    this.#tenancy = tenancy
    this.#clock = parts.clock
    this.#trace = parts.trace
  }

  override get lease(): LeaseView {
    return this.#tenancy.view
  }

  async use<A>(fn: UseFn<A>, options: UseOptions = {}): Promise<A> {
    refuseUnknown("use", options, USE_OPTIONS)
    aFunction("fn", fn)
    const { lockKey: key } = this.#shell
    const { signal, durable } = options
    using wait = new Wait(this.#clock, { key, what: "a turn" }, options)
    const asked = (): Called => ({ call: "use", key, ...wait.budget, durable: durable === true })
    return await traced(this.#trace, asked, () => use(this.#tenancy, fn, { wait, signal, durable }))
  }

  async checkpoint(): Promise<void> {
    const { turns, ending, commits } = this.#tenancy
    turns.refuseInside("checkpoint")
    ending.throwIfAborted()
    const { lockKey: key } = this.#shell
    using wait = new Wait(this.#clock, { key, what: "a checkpoint" }, {})
    const asked = (): Called => ({ call: "checkpoint", key, ...wait.budget })
    await traced(this.#trace, asked, () => wait.for(commits.request("manual")))
  }

  async release(): Promise<ReleaseResult> {
    this.#tenancy.turns.refuseInside("release")
    const { lockKey: key } = this.#shell
    return traced(
      this.#trace,
      () => ({ call: "release", key }),
      () => this.#shell.release(),
    )
  }
}
