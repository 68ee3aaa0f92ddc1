/** A process group of this machine: whether it is there, and signals to it. */
import process from "node:process"
import { processes } from "../../../runtime/machine/processes.ts"

/** The process group of a command, as a supervision needs it. */
export interface WorkGroup {
  readonly id: number
  /** False if the group is empty. True also if this user may signal none of it. */
  signal(signal: NodeJS.Signals): boolean
  /** Whether it has a member that lives. A zombie, which waits for its parent only, doesn't count. */
  isThere(): boolean
}

/** The group of that number. */
export class ProcessGroup implements WorkGroup {
  readonly id: number

  constructor(id: number) {
    this.id = id
  }

  /** False if the group is empty. True also if this user may signal none of it. */
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
