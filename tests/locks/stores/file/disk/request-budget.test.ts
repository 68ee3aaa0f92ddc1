/** What a request of a directory says that ran out of its budget. */
import { expect, it } from "vitest"
import { RequestBudget } from "../../../../../src/locks/stores/file/disk/request-budget.ts"
import { VirtualTime } from "../../../../../src/runtime/time/virtual-time.ts"

it("tells its budget in whole milliseconds", async () => {
  const clock = new VirtualTime()
  const waits = new RequestBudget(clock, { deadline: 2997.675965 }, "/locks").within(() => new Promise(() => {}))
  const refused = waits.catch((error: unknown) => error)
  await clock.advance(3000)
  expect(await refused).toMatchObject({ message: expect.stringContaining("didn't answer within 2998 ms") })
})
