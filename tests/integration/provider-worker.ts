/**
 * A process that holds a key by a lock provider on a directory: `provider-worker.ts <directory>`. It says so, and exits
 * once its standard input ends.
 */
import process from "node:process"
import { storeLockProvider } from "../../src/locks/providers/store-provider.ts"
import { fileStore } from "../../src/locks/stores/file/mod.ts"

const [directory = ""] = process.argv.slice(2)
await storeLockProvider({ store: fileStore({ directory }) }).acquire("provided")
process.stdin.on("end", () => process.exit()).resume()
console.log("holds")
