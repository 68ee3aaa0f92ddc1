/** The lock on a bucket between real processes: handoff, kill, stop and end. */
import { describe } from "vitest"
import { gcsTarget } from "./support/gcs-target.ts"
import { describeLocks } from "./support/lock-scenarios.ts"

describe("a lock on a bucket", () => {
  describeLocks(() => ({ place: gcsTarget(), short: 6000 }))
})
