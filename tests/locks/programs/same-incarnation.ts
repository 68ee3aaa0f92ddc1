// Acquires a key under an incarnation that another process has or had, says how that went, and is killed with what it
// holds.
import { writeSync } from "node:fs"
import process from "node:process"
import type { LockError } from "../../../src/locks/api/errors.ts"
import { StoreLock } from "../../../src/locks/lock/store-lock.ts"
import { fileStore } from "../../../src/locks/stores/file/file-store.ts"

const [directory = ""] = process.argv.slice(2)
const lock = new StoreLock("k", { store: fileStore({ directory }), incarnation: { id: "pod-0" } })
const outcome = await lock.acquire({ timeout: "20 s" }).then(
  ({ how }) => ({ how }),
  (error: LockError) => ({ refused: error.name, owner: error.owner?.ownerId, pid: error.owner?.pid }),
)
writeSync(1, JSON.stringify(outcome))
process.kill(process.pid, "SIGKILL")
