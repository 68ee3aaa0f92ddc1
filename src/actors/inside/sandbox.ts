/** One sandbox of a manager, for what shows it to people. Decides nothing: it passes on what the shell knows. */
import type { Owner } from "../../locks/api/errors.ts"
import type { LeaseView, ReleaseResult } from "../../locks/api/lock.ts"
import type { Cores } from "../../locks/engine/cores.ts"
import type { Inspected } from "../api/inspected.ts"
import { notHere } from "../api/problems.ts"
import type { SandboxSnapshot } from "../chart/types.ts"
import type { Shell } from "../sandbox/shell.ts"
import type { HookName } from "../sandbox/work/hook-runs.ts"

/** What there is to see of a sandbox, owned or not, and the little that can be asked of it. */
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
  /** Lets it end, save and leave: who waits for it has it next. As `Sandbox.release`. */
  release(): Promise<ReleaseResult>
}

/** What is shared by those of one manager. */
export interface SandboxParts {
  /** Undefined for locks of a `lockFactory`. */
  readonly cores: Cores | undefined
  readonly checkpoint: (shell: Shell) => Promise<void>
}

/** A shell, as it is shown. */
export class ShellInside implements SandboxInside {
  readonly #shell: Shell
  readonly #parts: SandboxParts

  constructor(shell: Shell, parts: SandboxParts) {
    this.#shell = shell
    this.#parts = parts
  }

  get name(): string {
    return this.#shell.definition.hooks.name
  }

  get key(): string {
    return this.#shell.key
  }

  get lockKey(): string {
    return this.#shell.lockKey
  }

  get snapshot(): SandboxSnapshot {
    return this.#shell.snapshot
  }

  get since(): number {
    return this.#shell.since
  }

  get ownedSince(): number | undefined {
    return this.#shell.ownedSince
  }

  get lease(): LeaseView | undefined {
    return this.#shell.tenancy?.view
  }

  get owner(): Owner | undefined {
    return this.#parts.cores?.known(this.lockKey)?.owner ?? this.#shell.owner
  }

  get waiterId(): string | undefined {
    return this.owner?.waiterId
  }

  get stuck(): HookName | undefined {
    return this.#shell.tenancy?.hooks.stuck
  }

  get overrun(): Error | undefined {
    return this.#shell.overrun
  }

  get callers(): number {
    return this.#shell.callers
  }

  inspect(): Inspected | undefined {
    return this.#shell.tenancy?.inspected()
  }

  async checkpoint(): Promise<void> {
    if (!this.#shell.isRunning) throw notHere(this.lockKey)
    await this.#parts.checkpoint(this.#shell)
  }

  release(): Promise<ReleaseResult> {
    return this.#shell.release()
  }
}
