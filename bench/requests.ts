/**
 * How many requests a lock costs, counted at the server: acquiring a key never seen (cold), acquiring it again after a
 * release (warm), one renewal, one release. The store has started already: its probe is paid once for all keys.
 */
import { StoreLock } from "../src/locks/lock/store-lock.ts"
import { gcsStore } from "../src/locks/stores/gcs/mod.ts"
import { type StrictGcsServer, startStrictGcs } from "../tests/support/strict-gcs-server.ts"
import { ratio } from "./ratio.ts"

/** Prints the figures. */
export async function benchRequests(): Promise<void> {
  await using server = await startStrictGcs({ record: false })
  const store = gcsStore({ bucket: "bucket", endpoint: server.url })
  await store.start({ deadline: 10_000 })
  const lock = new StoreLock("bench/requests", { store })
  const cold = await counted(server, () => lock.acquire())
  const renew = await counted(server, () => lock.renew())
  const release = await counted(server, () => lock.release())
  const warm = await counted(server, () => lock.acquire())
  await lock.release()
  await store.close()
  ratio("requests-cold-acquire", cold, "=", 2)
  ratio("requests-warm-acquire", warm, "=", 1)
  ratio("requests-renew", renew, "=", 1)
  ratio("requests-release", release, "=", 1)
}

async function counted(server: StrictGcsServer, work: () => Promise<unknown>): Promise<number> {
  const before = total(server)
  await work()
  return total(server) - before
}

const total = (server: StrictGcsServer): number => Object.values(server.counts).reduce((sum, count) => sum + count, 0)
