// Uses a lock although it may know nothing of its host. Prints what came of it.
import { StoreLock } from "../../../src/locks/lock/store-lock.ts"
import { memoryStore } from "../../../src/locks/stores/memory-store.ts"

const lock = new StoreLock("k", { store: memoryStore() })
const lease = await lock.acquire()
const owner = await lock.peek()
console.log(JSON.stringify({ held: lease.isHeld(), owner: owner?.ownerId, released: await lease.release() }))
