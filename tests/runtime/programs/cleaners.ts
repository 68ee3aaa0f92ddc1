// Listens for SIGTERM beside others, as a last will does, and prints what happens. Arguments: who else listens, in this order.
import { createRequire } from "node:module"
import process from "node:process"
import { liveClock } from "../../../src/runtime/clock.ts"
import { endBy, onlyCleanersBeside } from "../../../src/runtime/signal-cleaners.ts"

type Shared = { readonly __signal_exit_emitter__?: object }

/** The real one, as proper-lockfile brings it. */
function version3(): () => void {
  const require = createRequire(createRequire(import.meta.url).resolve("proper-lockfile"))
  const onExit = require("signal-exit") as (clean: () => void) => () => void
  return onExit(() => console.log("3 cleaned up"))
}

/** What of version 4 counts here: it takes an emitter of version 3 for a listener of that. */
function version4(): void {
  const shared = { count: 1 }
  Object.defineProperty(globalThis, Symbol.for("signal-exit emitter"), { value: shared })
  const listener = (): void => {
    const count = shared.count + ((process as Shared).__signal_exit_emitter__ === undefined ? 0 : 1)
    if (process.listenerCount("SIGTERM") !== count) return
    process.off("SIGTERM", listener)
    shared.count--
    console.log("4 cleaned up")
    process.kill(process.pid, "SIGTERM")
  }
  process.on("SIGTERM", listener)
}

const listeners: Readonly<Record<string, () => void>> = {
  ours() {
    const end = (): void => {
      if (!onlyCleanersBeside("SIGTERM")) return console.log("left to others")
      console.log("released")
      process.off("SIGTERM", end)
      endBy("SIGTERM")
    }
    process.on("SIGTERM", end)
  },
  "3": version3,
  "3 that is over": () => version3()(),
  "4": version4,
  other: () => void process.on("SIGTERM", () => liveClock.after(20, () => process.exit(7))),
}

for (const name of process.argv.slice(2)) listeners[name]!()
liveClock.after(3_600_000, () => {})
console.log("ready")
