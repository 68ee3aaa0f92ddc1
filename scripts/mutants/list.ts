/** All mutants, in the order of the protocol's rules. */
import { careMutants } from "./care.ts"
import { checkpointMutants } from "./checkpoints.ts"
import { leaseMutants } from "./leases.ts"
import { loadMutants } from "./load.ts"
import type { Mutant } from "./mutant.ts"
import { sandboxMutants } from "./sandboxes.ts"
import { storeMutants } from "./stores.ts"
import { timeMutants } from "./times.ts"
import { unseenMutants } from "./unseen.ts"

export const mutants: readonly Mutant[] = [
  ...timeMutants,
  ...leaseMutants,
  ...checkpointMutants,
  ...sandboxMutants,
  ...careMutants,
  ...storeMutants,
  ...unseenMutants,
  ...loadMutants,
]
