/** What `leasehold doctor` says of time: whose clock decides, and how far this machine's is from it. */
import type { LeaseStore } from "../../../locks/stores/port.ts"
import type { Clock } from "../../../runtime/time/clock.ts"
import { span } from "../../frame/moments.ts"
import { REQUEST_MS } from "../../stores/records.ts"
import type { Finding } from "./finding.ts"

/**
 * From this offset on a finding warns, in ms. Leases don't depend on it, but people compare clocks with times in
 * records.
 */
const FAR_MS = 5000

/** Findings about the clock, by one read of an object that is missing. */
export async function clockFindings(store: LeaseStore, clock: Clock): Promise<readonly Finding[]> {
  const before = clock.read()
  const answer = await store.read({ area: "probe", name: "doctor" }, { limit: 1024, deadline: REQUEST_MS })
  const after = clock.read()
  if (answer.kind === "failed") throw answer.error
  const took: Finding = { check: "round trip", status: "ok", found: `a read takes ${span(after.mono - before.mono)}` }
  if (answer.storeTime === undefined) return [took, clockless]
  // The time of a coarse clock is rounded down to a second: half a second more is its mean.
  const half = store.capabilities.clock === "coarse" ? 500 : 0
  const offset = answer.storeTime + half - (before.wall + after.wall) / 2
  return [took, offsetFinding(offset, store)]
}

const clockless: Finding = {
  check: "clock",
  status: "warning",
  found: "the store has no time of its own: an owner that died is waited out by watching its record for a whole ttl",
  remedy: "Use Linux for directories, or a bucket, where that matters",
}

function offsetFinding(offset: number, { capabilities }: LeaseStore): Finding {
  const whose = capabilities.bootId === undefined ? "the store's clock" : "the directory's clock of this boot"
  const way = offset >= 0 ? "ahead of" : "behind"
  const found = `${whose} is ${span(offset)} ${way} this machine's`
  if (Math.abs(offset) < FAR_MS) return { check: "clock", status: "ok", found }
  return {
    check: "clock",
    status: "warning",
    found,
    remedy:
      "Leases are not harmed: they go by the store's clock alone. Set this machine's clock (NTP) for the sake of logs",
  }
}
