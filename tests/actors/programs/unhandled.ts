// Everything that a user's code can do wrong in the background, live: the process must neither die of it nor hang.
import process from "node:process"
import { defineSandbox, memoryStore, SandboxManager, unchecked } from "../../../src/mod.ts"

process.on("unhandledRejection", (reason) => {
  console.log("unhandled", String(reason))
  process.exitCode = 1
})
const broken = (name: string, when: { restore?: boolean; run?: boolean; close?: boolean; checkpoint?: boolean }) => {
  const fail = (): never => {
    throw new Error(`${name} as scripted`)
  }
  return defineSandbox({
    name,
    schema: unchecked<number>(),
    restore: () => (when.restore ? fail() : 1),
    run: async () => (when.run ? fail() : undefined),
    checkpoint: () => (when.checkpoint ? fail() : 1),
    close: () => (when.close ? fail() : undefined),
  })
}
const definitions = [
  broken("restore", { restore: true }),
  broken("run", { run: true }),
  broken("close", { close: true }),
  broken("checkpoint", { checkpoint: true }),
]
const errors: string[] = []
const manager = await SandboxManager.start({
  store: memoryStore(),
  sandboxes: definitions,
  onError: (error) => {
    errors.push(String(error))
    throw error // also what onError throws must harm nobody
  },
})
manager.events$.subscribe(() => {
  throw new Error("observer as scripted")
})
for (const definition of definitions) {
  await manager.use(definition, "k", () => Promise.reject(new Error("use as scripted"))).catch(() => {})
  void manager.use(definition, "dropped", () => 0, { durable: true }).catch(() => {})
}
await manager[Symbol.asyncDispose]()
console.log(errors.toSorted().join("\n"))
