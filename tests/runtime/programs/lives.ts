/** A process that tells which it is, and lives until it is killed or its parent is gone. */
import process from "node:process"
import { processes } from "../../../src/runtime/machine/processes.ts"

const { self, life } = processes
process.stdin.on("close", () => process.exit()).resume()
console.log(JSON.stringify({ ...self, life }))
