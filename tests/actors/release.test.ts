/** A sandbox that is released at its user's wish. */
import { expect, it } from "vitest"
import { counter, World } from "./world.ts"

const lease = /k$/

// Tests rule 11: A release after one that nobody could tell the end of looks first, and leaves what is its own.
it("tries again when it is asked again after a release that nobody could tell the end of", async () => {
  const world = new World()
  const sandbox = counter()
  const a = await world.manager("a", sandbox)
  const handle = await world.run(a.restoreSandbox(sandbox, "k"))
  await world.run(handle.use((state) => ++state.n))
  for (let lost = 0; lost < 20; lost++) {
    world.store.script.onPut({ before: "lost", of: lease })
    world.store.script.onRead({ before: "lost", of: lease })
  }
  expect(await world.run(handle.release())).toBe("unknown")
  expect(await handle.ended).toMatchObject({ reason: "failed" })
  world.store.script.heal()
  expect(await world.run(handle.release())).toBe("released")
  expect(await world.run(handle.release())).toBe("released")
  const b = await world.manager("b", sandbox)
  expect(await world.took(b.use(sandbox, "k", (state) => expect(state.n).toBe(1)))).toBeLessThan(1000)
  await world.end()
})
