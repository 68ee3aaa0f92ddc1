/**
 * The searches themselves, each until its first violation. They run what is beside them: in a mutant's tree, the
 * mutant.
 */
import { configurations } from "../../src/testing/check/configurations.ts"
import { check } from "../../src/testing/check/mod.ts"
import { runCrowd } from "../../src/testing/simulate/crowd.ts"
import { settingsOf } from "../../src/testing/simulate/options.ts"
import { formerLedger, ledger, ledgerAfterwards, ledgerWorkload } from "../../src/testing/simulate/run/ledger.ts"
import { runOnce } from "../../src/testing/simulate/run/run.ts"
import { planOf } from "../../src/testing/simulate/seed.ts"
import { directoryRun } from "./directory.ts"
import { type Catch, firstOf, type Hunt } from "./mutant.ts"
import { scriptedRun } from "./scripted.ts"

/** Hunts. Settles with what it found, or with an empty violation. */
export async function hunt(by: Hunt): Promise<Catch> {
  const from = performance.now()
  const found = await search(by)
  return { by: by.by, ...found, ms: Math.round(performance.now() - from) }
}

type Found = Omit<Catch, "by" | "ms">

async function search(by: Hunt): Promise<Found> {
  switch (by.by) {
    case "sim":
      return throughSeeds(by, (seed) => simulated(seed, by))
    case "script":
      return scripted(by)
    case "crowd":
      return { count: 1, unit: "script", violation: firstOf((await runCrowd(by.crowd)).violations) ?? "" }
    case "checker":
      return searched(by.config)
    case "search":
      return searchedNearby(by)
    case "directory":
      return throughSeeds(by, directoryRun)
  }
}

async function throughSeeds(
  { from, to }: { readonly from: number; readonly to: number },
  look: (seed: number) => string | undefined | Promise<string | undefined>,
): Promise<Found> {
  for (let seed = from; seed <= to; seed++) {
    const violation = await look(seed)
    if (violation !== undefined)
      return { count: seed - from + 1, unit: "seeds", violation: `seed ${seed}: ${violation}` }
  }
  return { count: to - from + 1, unit: "seeds", violation: "" }
}

function searched(config: string): Found {
  const { states, broken = "", complete } = check(configurations[config]!.options)
  if (broken === "" && !complete) throw new Error(`the search ${config} isn't complete after ${states} states`)
  return { count: states, unit: "states", violation: broken }
}

/** That it isn't complete is no wonder: it shows nothing but what it finds. */
function searchedNearby({ options, limit }: Extract<Hunt, { by: "search" }>): Found {
  const { states, broken = "" } = check({ ...options, limit })
  return { count: states, unit: "states", violation: broken }
}

async function scripted(by: Extract<Hunt, { by: "script" }>): Promise<Found> {
  return { count: 1, unit: "script", violation: (await scriptedRun(by)) ?? "" }
}

/** Once each: that a seed gives the same run twice is for `npm run sim` to see. */
async function simulated(
  seed: number,
  { faults, ttl, store, judge, contenders }: Extract<Hunt, { by: "sim" }>,
): Promise<string | undefined> {
  const settings = settingsOf({
    sandbox: ledger,
    former: formerLedger,
    workload: ledgerWorkload,
    afterwards: ledgerAfterwards,
    seeds: 1,
    duration: "2 min",
    shrinkFor: 0,
    ...(faults !== undefined && { faults }),
    ...(store !== undefined && { store }),
    ...(ttl !== undefined && { manager: { ttl } }),
    ...(contenders !== undefined && { workers: contenders, keys: 1 }),
  })
  const { violations } = await runOnce(planOf(seed, settings), settings)
  return firstOf(violations.filter(({ invariant }) => judge === undefined || invariant === judge))
}
