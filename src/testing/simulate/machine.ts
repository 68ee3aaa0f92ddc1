/** A machine of a simulated fleet: its boots, and what is wrong with its wall clock since the last of them. */

/** Processes of one machine share its boot. */
export class Machine {
  readonly name: string
  #boots = 1
  #wallOff = 0

  /** In its first boot. */
  constructor(name: string) {
    this.name = name
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
  }
}
