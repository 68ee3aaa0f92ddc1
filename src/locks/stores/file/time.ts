/**
 * The store's time: the boot clock plus one offset, which the first process of a boot leaves in the directory. Processes of
 * one boot so read one clock that counts sleep, and that no step of the wall clock moves.
 *
 * That two processes read one boot clock is not taken from the boot's name alone: they must agree on when the machine
 * booted, by the wall clock. Where one reckons otherwise than the offset says, its uptime is made up, or the wall clock was
 * set in between, and nobody can tell which. It then has a clock of its own, which it shares with those that reckon as it
 * does. Clocks are told apart by their names in records, and of another clock's record no time counts, only observation.
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
  /** Before this moment of the file system's time the machine had not booted. The earlier of two guesses. */
  bootedAt(): number
}

const LIMIT = 64
/**
 * In ms. So far apart two may reckon and share a clock: half of what a lease must be over before another takes it, since two
 * who each reckon so far from the offset may be twice as far from each other.
 */
const AGREED = 500

/** Whether a process that reckons the moment of the boot as `mine` reads the clock of that offset. */
export const sharesClock = (offset: number, mine: number): boolean => Math.abs(offset - mine) <= AGREED

/** The name of a boot's clock number `count`, the first being 0. */
export const clockName = (bootId: string, count: number): string => (count === 0 ? bootId : `${bootId}~${count}`)

/** The time of this process in this directory; undefined where the boot clock can't be read. */
export const storeTime = (files: Files, root: string, id: string, clock: Clock): Steps<StoreTime | undefined> =>
  timeBy(clock, (name, mine) => offsetOf(files, id, root, name, mine))

/** The same for who only reads: undefined also where no process with that clock has been here. */
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

/** When the machine booted, by this process. One that was held up between its looks at two clocks reckons too early. */
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

/** Undefined where no process with that clock has been here. */
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
