// Uses a few sandboxes, live, drops every handle, closes the manager, and must then end by itself: nothing of it may
// keep the process alive. Prints how long each step took, so that a hang says where.
import { defineSandbox, memoryStore, SandboxManager, unchecked } from "../../../src/mod.ts"

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  idleAfter: "1 h",
  checkpointEvery: "1 h",
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  async run(state, { clock, turn }) {
    for (;;) {
      await clock.sleep("1 h")
      await turn(() => void state.n++)
    }
  },
  checkpoint: ({ n }) => ({ n }),
})
const manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [counter] })
manager.events$.subscribe(({ type, key }) => console.log(type, key))
for (const key of ["x", "y", "z"]) await manager.use(counter, key, (state) => ++state.n, { durable: true })
await manager.use(counter, "x", () => {}).then(() => console.log("used"))
await manager[Symbol.asyncDispose]()
console.log("disposed")
