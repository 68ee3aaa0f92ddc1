/**
 * A command that stands behind its gate, and the guardian of its process group. Each is a shell: both start while the
 * keys are waited for, so that nobody waits for them once the keys are there.
 */
import type { Clock } from "../../../runtime/time/clock.ts"
import type { Environment } from "../../process/bytes.ts"
import { GatedCommand } from "./gate.ts"
import { Guardian } from "./guardian.ts"
import { callersOpenFiles } from "./open-files.ts"

/** What both need to know. */
export interface GuardedCommandOptions {
  readonly command: readonly string[]
  readonly env: Environment
  /** Whether it gets the terminal's foreground. */
  readonly foreground: boolean
  /** The folder of the lease file, which the guardian removes if this process can't. */
  readonly folder: string
  readonly clock: Clock
}

export class GuardedCommand implements Disposable {
  readonly gated: GatedCommand
  readonly guardian: Guardian

  /** Throws StartError. */
  constructor({ command, env, foreground, folder, clock }: GuardedCommandOptions) {
    this.gated = new GatedCommand(command, env, foreground, callersOpenFiles())
    this.guardian = new Guardian(this.gated.group, folder, clock)
  }

  /** Lets the command in no more, if it wasn't yet, and sends the guardian away. */
  [Symbol.dispose](): void {
    this.gated.abandon()
    this.guardian.dismiss()
  }
}
