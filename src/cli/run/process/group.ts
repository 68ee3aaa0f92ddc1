/** A process group of this machine, as whoever has to end it sees it. */
import process from "node:process"
import { processes } from "../../../runtime/machine/processes.ts"

/** What works under a lease. */
export interface WorkGroup {
  readonly id: number
  /** False where there is nothing any more; true also where nothing of it may be signalled by this user. */
  signal(signal: NodeJS.Signals): boolean
  /** Whether it has a member that lives: what only waits for its parent to look does nothing any more. */
  isThere(): boolean
}

/** The group of that number. */
export class ProcessGroup implements WorkGroup {
  readonly id: number

  constructor(id: number) {
    this.id = id
  }

  /** False where there is nothing any more; true also where nothing of it may be signalled by this user. */
  signal(signal: NodeJS.Signals | 0): boolean {
    try {
      process.kill(-this.id, signal)
      return true
    } catch (error) {
      return (error as { code?: unknown }).code === "EPERM"
    }
  }

  /** Whether it has a member that lives. */
  isThere(): boolean {
    return this.signal(0) && processes.groupLives(this.id)
  }
}
