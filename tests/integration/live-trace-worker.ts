/**
 * A worker that writes its trace: `live-trace-worker.ts <directory> <trace> <name>`. Uses two keys in turns with
 * whoever else does, durably, and ends in order when something is written to it. A use in each round throws, with a
 * secret in its words.
 */
import process from "node:process"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import { defineSandbox, HandingOffError, LockError, SandboxManager, unchecked } from "../../src/mod.ts"

const [directory = "", file = "", worker = ""] = process.argv.slice(2)

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  run: async (_state, { turn }) => turn(() => {}),
  checkpoint: ({ n }) => ({ n }),
  close: () => {},
})

const manager = await SandboxManager.start({
  ...{ store: fileStore({ directory }), sandboxes: [counter], minTenure: 0 },
  address: `http://${worker}:hunter2@127.0.0.1:1/?token=hunter3`,
  trace: { file, worker },
})
let isOver = false
process.stdin.once("data", () => {
  isOver = true
  process.stdin.destroy()
})
for (let round = 0; !isOver; round++) {
  const key = `k${round % 2}`
  await manager.use(counter, key, (state) => void state.n++, { durable: true })
  await manager.use(counter, key, () => raise("hunter4")).catch(notOurs)
}
await manager[Symbol.asyncDispose]()
console.log("done")

function raise(message: string): never {
  throw new Error(message)
}

function notOurs(error: unknown): void {
  if (error instanceof LockError && !(error instanceof HandingOffError)) throw error
}
