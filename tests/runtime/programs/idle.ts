// Ends by itself although background timers, a watch and a background entry are pending; prints what the clock can
// read.
import { liveClock } from "../../../src/runtime/time/clock.ts"
import { scheduleOf } from "../../../src/runtime/time/schedule.ts"
import { watchClocks } from "../../../src/runtime/time/watch-clocks.ts"

liveClock.after(3_600_000, () => console.log("a background timer ran"), { background: true })
scheduleOf(liveClock)
  .wake(() => console.log("a background entry ran"), { background: true })
  .set(3_600_000)
watchClocks(liveClock).add({ onReading: () => console.log("the clocks went apart") }, liveClock.read())
const { wall, boot } = liveClock.read()
liveClock.after(20, () =>
  console.log(JSON.stringify({ bootId: liveClock.bootId ?? null, wallStandsIn: boot === wall })),
)
