// Listens for SIGTERM beside others, as a last will does, and prints what happens. Arguments: who else listens, in this order.
import { createRequire } from "node:module"
import process from "node:process"
import { liveClock } from "../../../src/runtime/clock.ts"
import { endBy, onlyCleanersBeside } from "../../../src/runtime/signal-cleaners.ts"

/** The real one, as proper-lockfile brings it. */
function version3(clean: () => void): () => void {
  const require = createRequire(createRequire(import.meta.url).resolve("proper-lockfile"))
  const onExit = require("signal-exit") as (clean: () => void) => () => void
  return onExit(clean)
}

/** What of version 4.1.0 counts here: it counts listeners of version 3 too, and a callback that returns true decides. */
function version4(clean: () => boolean | void): void {
  const shared = { count: 1 }
  Object.defineProperty(globalThis, Symbol.for("signal-exit emitter"), { value: shared })
  const listener = (): void => {
    const older = (process as { readonly __signal_exit_emitter__?: { readonly count: number } }).__signal_exit_emitter__
    if (process.listenerCount("SIGTERM") !== shared.count + (older?.count ?? 0)) return
    process.off("SIGTERM", listener)
    shared.count--
    if (clean() !== true) process.kill(process.pid, "SIGTERM")
  }
  process.on("SIGTERM", listener)
}

/** Goes on for a while, and then ends the process in its own way. */
function saves(end: () => void): true {
  console.log("saving")
  liveClock.after(20, () => {
    console.log("saved")
    end()
  })
  return true
}

function breaks(): never {
  console.log("broke")
  throw new Error("can't clean up")
}

const listeners: Readonly<Record<string, () => void>> = {
  ours() {
    const release = (): void => console.log("released")
    const end = (): void => {
      if (!onlyCleanersBeside("SIGTERM")) return console.log("left to others")
      endBy("SIGTERM", end, release)
    }
    process.on("SIGTERM", end)
  },
  "3": () => void version3(() => console.log("3 cleaned up")),
  "3 breaks": () => void version3(breaks),
  "3 taken off": () => {
    version3(() => console.log("3 cleaned up"))
    process.removeAllListeners("SIGTERM")
  },
  "4": () => version4(() => console.log("4 cleaned up")),
  "4 exits later": () => version4(() => saves(() => process.exit(3))),
  "4 kills later": () => version4(() => saves(() => process.kill(process.pid, "SIGTERM"))),
  "4 breaks": () => version4(breaks),
  other: () => void process.on("SIGTERM", () => liveClock.after(20, () => process.exit(7))),
  "what catches": () =>
    void process.on("uncaughtException", () => {
      console.log("lives")
      liveClock.after(20, () => process.kill(process.pid, "SIGTERM"))
    }),
}

for (const name of process.argv.slice(2)) listeners[name]!()
liveClock.after(3_600_000, () => {})
console.log("ready")
