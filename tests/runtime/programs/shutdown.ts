// Prints what its shutdown handlers do. Arguments: what the handlers do.
import process from "node:process"
import type * as signals from "../../../src/runtime/machine/signals.ts"
import { onShutdown } from "../../../src/runtime/machine/signals.ts"
import { liveClock } from "../../../src/runtime/time/clock.ts"

const [manner] = process.argv.slice(2)
const wait = (ms: number): Promise<void> => new Promise((resolve) => void liveClock.after(ms, resolve))

const first = onShutdown(async (signal) => {
  console.log(`first ${signal}`)
  await wait(20)
  if (manner === "fail") throw new Error("handler failed")
  if (manner === "hang") await wait(3_600_000)
  console.log("first done")
})
const second = onShutdown((signal) => console.log(`second ${signal}`))
if (manner === "dispose") {
  first[Symbol.dispose]()
  second[Symbol.dispose]()
} else {
  liveClock.after(3_600_000, () => {})
}
if (manner === "hang") process.on("exit", (code) => console.log(`exit ${code}`))
if (manner === "twice") {
  const { href } = new URL("../../../src/runtime/machine/signals.ts?again", import.meta.url)
  const again = (await import(href)) as typeof signals
  again.onShutdown(async () => {
    await wait(200)
    console.log("slower done")
  })
}
console.log("ready")
