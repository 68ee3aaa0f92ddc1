// A program that does nothing but dispose of a manager whose sink never takes its first line.
import { memoryStore, SandboxManager } from "../../src/mod.ts"

const manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [], trace: () => new Promise(() => {}) })
await manager[Symbol.asyncDispose]()
console.log("disposed")
