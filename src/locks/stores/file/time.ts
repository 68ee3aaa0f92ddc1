/**
 * The store's time: the boot clock plus one offset per boot of the machine, which its first process leaves in the
 * directory. All processes of one boot so read one clock that counts sleep, and that no step of the wall clock moves.
 *
 * Not promised: that two machines agree, or two boots. Where the boot clock can't be read the store has no time at all.
 */
import { join } from "node:path"
import type { Clock } from "../../../runtime/clock.ts"
import { StoreMisconfiguredError } from "../../errors.ts"
import { encodeName } from "../../keys.ts"
import { createWhole } from "./create.ts"
import { unlessMissing } from "./failures.ts"
import type { Files } from "./files.ts"
import { type Steps, step } from "./steps.ts"

export interface StoreTime {
  /** Unix milliseconds. */
  now(): number
  /** Before this moment of the file system's time the machine had not booted. The earlier of two guesses. */
  bootedAt(): number
}

const LIMIT = 64

/** The time of this boot in this directory; undefined where the boot clock can't be read. */
export function* storeTime(files: Files, root: string, id: string, clock: Clock): Steps<StoreTime | undefined> {
  if (clock.bootId === undefined) return undefined
  const directory = join(root, "clock")
  const path = join(directory, encodeName(clock.bootId))
  if ((yield* recorded(files, path)) === undefined) {
    const { wall, boot } = clock.read()
    yield* createWhole(files, id, directory, path, new TextEncoder().encode(`${wall - boot}\n`))
  }
  const offset = yield* recorded(files, path)
  if (offset === undefined) throw unreadable(path)
  return {
    now: () => clock.read().boot + offset,
    bootedAt: () => {
      const { wall, boot } = clock.read()
      return Math.min(wall - boot, offset)
    },
  }
}

/** Undefined where no process of this boot has been here. */
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
