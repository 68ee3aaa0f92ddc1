/**
 * The store's time: the boot clock plus one offset, which the first process of a boot writes into the directory. All
 * processes of the boot so read one clock. It counts sleep, and no step of the wall clock moves it.
 *
 * Two processes share a clock only where they also agree, by the wall clock, on when the machine booted. Where a
 * process reckons otherwise than the offset says, its uptime is made up, or the wall clock was set in between: it can't
 * be told which. Then it has a clock of its own, which it shares with processes that reckon as it does. Records name
 * the clock that stamped them. Times of another clock don't count: such a record is judged by observation.
 *
 * Not promised: that two machines agree, or two boots. Where the boot clock can't be read the store has no time at all.
 */
import { dirname, join } from "node:path"
import type { Clock } from "../../../runtime/time/clock.ts"
import { StoreMisconfiguredError } from "../../api/errors.ts"
import { encodeName } from "../../api/keys.ts"
import { unlessMissing } from "./disk/failures.ts"
import type { Files } from "./disk/files.ts"
import { type Steps, step } from "./disk/steps.ts"
import { createWhole } from "./objects/create.ts"

export interface StoreTime {
  /** Names the clock: the boot, followed by `~` and a number where it is not the first clock of that boot. */
  readonly id: string
  /** Unix milliseconds. */
  now(): number
  /** When the machine booted, in the file system's time: the earlier of two estimates. */
  bootedAt(): number
}

const LIMIT = 64
/**
 * How far a process may reckon from the offset and share the clock, in ms. Two may be twice as far from each other:
 * that is how long a lease must be over before another takes it.
 */
const AGREED = 500

/** Whether a process that reckons the moment of the boot as `mine` reads the clock of that offset. */
export const sharesClock = (offset: number, mine: number): boolean => Math.abs(offset - mine) <= AGREED

/** The name of a boot's clock number `count`, the first being 0. */
export const clockName = (bootId: string, count: number): string => (count === 0 ? bootId : `${bootId}~${count}`)

/** The time of this process in this directory; undefined where the boot clock can't be read. */
export const storeTime = (files: Files, root: string, id: string, clock: Clock): Steps<StoreTime | undefined> =>
  timeBy(clock, (name, mine) => offsetOf(files, id, root, name, mine))

/** The same, but makes no clock: undefined also where no process with that clock was here before. */
export const knownTime = (files: Files, root: string, clock: Clock): Steps<StoreTime | undefined> =>
  timeBy(clock, (name) => recorded(files, pathOf(root, name)))

function* timeBy(
  clock: Clock,
  find: (name: string, mine: number) => Steps<number | undefined>,
): Steps<StoreTime | undefined> {
  const { bootId } = clock
  if (bootId === undefined) return undefined
  const mine = reckoned(clock)
  for (let count = 0; ; count++) {
    const name = clockName(bootId, count)
    const offset = yield* find(name, mine)
    if (offset === undefined) return undefined
    if (!sharesClock(offset, mine)) continue
    return {
      id: name,
      now: () => clock.read().boot + offset,
      bootedAt: () => {
        const now = clock.read()
        return Math.min(now.wall - now.boot, offset)
      },
    }
  }
}

/**
 * When the machine booted, by this process. A pause between its readings of two clocks gives too early a time: the
 * latest counts.
 */
function reckoned(clock: Clock): number {
  const looks = [clock.read(), clock.read(), clock.read()]
  return Math.max(...looks.map(({ wall, boot }) => wall - boot))
}

const pathOf = (root: string, name: string): string => join(root, "clock", encodeName(name))

/** The offset of that clock, `mine` where it has none yet. */
function* offsetOf(files: Files, id: string, root: string, name: string, mine: number): Steps<number> {
  const path = pathOf(root, name)
  if ((yield* recorded(files, path)) === undefined)
    yield* createWhole(files, id, dirname(path), path, new TextEncoder().encode(`${mine}\n`))
  const offset = yield* recorded(files, path)
  if (offset === undefined) throw unreadable(path)
  return offset
}

/** The offset of that clock; undefined where no process with it was here before. */
function* recorded(files: Files, path: string): Steps<number | undefined> {
  const content = yield* unlessMissing(() => step(files.read(path, LIMIT)))
  if (content === undefined) return undefined
  const text = content.kind === "body" ? new TextDecoder().decode(content.body) : ""
  if (!/^-?\d+(\.\d+)?\n$/.test(text)) throw unreadable(path)
  return Number(text)
}

function unreadable(path: string): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: `${path} should hold the offset of this boot's clock and doesn't`,
    next: "Stop every process of this machine that uses the directory, then remove that file",
  })
}
