/** What users hold of a sandbox: a view to look at one, and the handle of one that runs. Both only pass on to its shell. */
import { Observable } from "rxjs"
import type { LeaseView, ReleaseResult } from "../locks/lock.ts"
import type { Clock } from "../runtime/clock.ts"
import { guarded } from "../runtime/observables.ts"
import { aFunction, refuseUnknown } from "../runtime/options.ts"
import type { OnError } from "../runtime/report.ts"
import { actorView } from "../runtime/start-actor.ts"
import { USE_OPTIONS } from "./call-options.ts"
import type { SandboxActor, SandboxSnapshot } from "./chart-types.ts"
import type { Sandbox, SandboxEnding, SandboxView, UseOptions } from "./sandbox.ts"
import type { Shell } from "./shell.ts"
import type { Tenancy } from "./tenancy.ts"
import { use, type UseFn } from "./uses.ts"
import { Wait } from "./waits.ts"

/** What handles need of their manager. */
export interface HandleParts {
  readonly clock: Clock
  readonly report: OnError
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

  constructor(shell: Shell, tenancy: Tenancy, parts: HandleParts) {
    super(shell, parts)
    this.ended = shell.ended
    this.#shell = shell
    this.#tenancy = tenancy
    this.#clock = parts.clock
  }

  override get lease(): LeaseView {
    return this.#tenancy.view
  }

  async use<A>(fn: UseFn<A>, options: UseOptions = {}): Promise<A> {
    refuseUnknown("use", options, USE_OPTIONS)
    aFunction("fn", fn)
    using wait = new Wait(this.#clock, { key: this.#shell.lockKey, what: "a turn" }, options)
    return await use(this.#tenancy, fn, { wait, signal: options.signal, durable: options.durable })
  }

  async checkpoint(): Promise<void> {
    const { turns, ending, commits } = this.#tenancy
    turns.refuseInside("checkpoint")
    ending.throwIfAborted()
    using wait = new Wait(this.#clock, { key: this.#shell.lockKey, what: "a checkpoint" }, {})
    await wait.for(commits.request("manual"))
  }

  async release(): Promise<ReleaseResult> {
    this.#tenancy.turns.refuseInside("release")
    return this.#shell.release()
  }
}
