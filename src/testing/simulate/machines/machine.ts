/**
 * A machine of a simulated fleet: its boots, the error of its wall clock since the last boot, and its processes. Each
 * process can be told that another of the machine has ended.
 */
import type { HostHalf } from "../../../locks/record.ts"
import type { ProcessOracle } from "../../../locks/stores/port.ts"
import type { VirtualHost } from "../../../runtime/time/virtual-host.ts"
import type { VirtualTime } from "../../../runtime/time/virtual-time.ts"

/** What a trace notes when a machine has told of the end of a process. */
export const toldOfEnd = "a machine told that a process had ended"

/** A process of a machine: what records say of it, and what it knows of the others. */
export interface MachineProcess {
  /** Undefined where its boot can't be named, so that records don't name it either. */
  readonly oracle: ProcessOracle | undefined
  /** It has ended: those that watch it hear of it. */
  readonly ended: () => void
}

interface Watcher {
  readonly pid: number
  readonly wake: () => void
}

/** Processes of one machine share its boot. */
export class Machine {
  readonly name: string
  readonly #time: VirtualTime
  #boots = 1
  #wallOff = 0
  #pids = 0
  /** Those of this boot that have ended. */
  readonly #gone = new Set<number>()
  readonly #watchers = new Set<Watcher>()

  /** In its first boot. */
  constructor(name: string, time: VirtualTime) {
    this.name = name
    this.#time = time
  }

  /** The name of its present boot. */
  get boot(): string {
    return `${this.name}.${this.#boots}`
  }

  /** By how much its wall clock is off more than in its first boot, in milliseconds. */
  get wallOff(): number {
    return this.#wallOff
  }

  /** It starts anew, with a wall clock that is off by so much more. */
  reboot(wall: number): void {
    this.#boots++
    this.#wallOff += wall
    this.#pids = 0
    this.#gone.clear()
    this.#watchers.clear()
  }

  /** One more process. `onGone` is called whenever it is told that another has ended. */
  runs({ bootId, soon }: Pick<VirtualHost, "bootId" | "soon">, onGone: () => void): MachineProcess {
    const pid = ++this.#pids
    const { boot } = this
    const ended = (): void => {
      if (this.boot === boot) this.#end(pid)
    }
    if (bootId === undefined) return { oracle: undefined, ended }
    const self: HostHalf = { name: this.name, pid, startedAt: boot, bootId, pidNs: "1", groups: [] }
    const isHere = (host: HostHalf): boolean => host.bootId === bootId && host.pid > 0 && host.pid !== pid
    const oracle: ProcessOracle = {
      self,
      livenessOf: (host) => {
        if (!isHere(host) || !this.#gone.has(host.pid)) return undefined
        onGone()
        return "gone"
      },
      watch: (host, wake) => {
        const watcher = { pid: host.pid, wake: () => soon(wake) }
        if (isHere(host)) this.#watchers.add(watcher)
        return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) }
      },
    }
    return { oracle, ended }
  }

  /** Watching may miss an end: one in four is not told. */
  #end(pid: number): void {
    this.#gone.add(pid)
    for (const watcher of this.#watchers) {
      if (watcher.pid !== pid) continue
      this.#watchers.delete(watcher)
      if (this.#time.random() < 0.75) watcher.wake()
    }
  }
}
