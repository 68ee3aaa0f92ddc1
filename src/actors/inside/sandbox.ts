/** One sandbox of a manager, for pages that show it to people. Decides nothing: all of it is the runtime's. */
import type { Owner } from "../../locks/api/errors.ts"
import type { LeaseView, ReleaseResult } from "../../locks/api/lock.ts"
import type { KeyRuntimes } from "../../locks/engine/key-runtimes.ts"
import type { HookName } from "../api/hooks.ts"
import type { Inspected } from "../api/inspected.ts"
import { notHere } from "../api/problems.ts"
import type { SandboxSnapshot } from "../chart/types.ts"
import type { SandboxRuntime } from "../sandbox/runtime.ts"

/** What a page can see of a sandbox, owned or not, and the few things that it can ask of it. */
export interface SandboxInside {
  /** The definition's name. */
  readonly name: string
  /** Its key, as the caller gave it. */
  readonly key: string
  readonly lockKey: string
  /** The present moment of its chart. */
  readonly snapshot: SandboxSnapshot
  /** Since when it is acquiring, waiting, owning, handing off or released, in Unix milliseconds of this process. */
  readonly since: number
  /** Since when this process owns it, likewise; undefined where it doesn't. */
  readonly ownedSince: number | undefined
  /** While it has a lease, and after that as long as work goes on. */
  readonly lease: LeaseView | undefined
  /** Who owns the key by the last version of the record that this process has seen; undefined where it saw none. */
  readonly owner: Owner | undefined
  /** Who waits for it, likewise. */
  readonly waiterId: string | undefined
  /** The hook that goes on past its limit. */
  readonly stuck: HookName | undefined
  /** The error that told so. */
  readonly overrun: Error | undefined
  /** How many calls wait for it to run. */
  readonly callers: number
  /** The machine that lives in it, and its state: by the definition's `inspectState`, called now. Never throws. */
  inspect(): Inspected | undefined
  /** As `SandboxManager.checkpointSandbox`. */
  checkpoint(): Promise<void>
  /** Lets it end, save and leave. The process that waits for it has it next. As `Sandbox.release`. */
  release(): Promise<ReleaseResult>
}

/** What is shared by those of one manager. */
export interface SandboxParts {
  /** Undefined for locks of a `lockFactory`. */
  readonly keyRuntimes: KeyRuntimes | undefined
  readonly checkpoint: (runtime: SandboxRuntime) => Promise<void>
}

/** A runtime, as it is shown. */
export class RuntimeInside implements SandboxInside {
  readonly #runtime: SandboxRuntime
  readonly #parts: SandboxParts

  constructor(runtime: SandboxRuntime, parts: SandboxParts) {
    this.#runtime = runtime
    this.#parts = parts
  }

  get name(): string {
    return this.#runtime.definition.hooks.name
  }

  get key(): string {
    return this.#runtime.key
  }

  get lockKey(): string {
    return this.#runtime.lockKey
  }

  get snapshot(): SandboxSnapshot {
    return this.#runtime.snapshot
  }

  get since(): number {
    return this.#runtime.since
  }

  get ownedSince(): number | undefined {
    return this.#runtime.ownedSince
  }

  get lease(): LeaseView | undefined {
    return this.#runtime.activation?.view
  }

  get owner(): Owner | undefined {
    return this.#parts.keyRuntimes?.known(this.lockKey)?.owner ?? this.#runtime.owner
  }

  get waiterId(): string | undefined {
    return this.owner?.waiterId
  }

  get stuck(): HookName | undefined {
    return this.#runtime.activation?.hooks.stuck
  }

  get overrun(): Error | undefined {
    return this.#runtime.overrun
  }

  get callers(): number {
    return this.#runtime.callers
  }

  inspect(): Inspected | undefined {
    return this.#runtime.activation?.inspected()
  }

  async checkpoint(): Promise<void> {
    if (!this.#runtime.isRunning) throw notHere(this.lockKey)
    await this.#parts.checkpoint(this.#runtime)
  }

  release(): Promise<ReleaseResult> {
    return this.#runtime.release()
  }
}
