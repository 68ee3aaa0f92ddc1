/** What a simulated store asks of chance: `VirtualTime`'s own random doesn't do, since its processes draw from that. */
export interface Chance {
  /** A number in [0, 1). */
  next(): number
}
