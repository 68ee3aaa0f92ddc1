/**
 * The plan of one simulated run: plain JSON that says how the fleet is made, what befalls it, and when. It is drawn
 * from the seed alone, so that the seed stands for it.
 *
 * Swarm testing: a plan turns each kind of fault on or off, and draws how often faults come. One that is hit by
 * everything at once would hide what few faults in peace show.
 */
import { drawStoreFault, type StoreFault, type StoreFaultKind, storeFaultKinds } from "../../simulated-store/faults.ts"
import {
  type GenerationStyle,
  generationStyles,
  type StoreProfileName,
  storeProfiles,
} from "../../simulated-store/profile.ts"
import { Draw } from "./draw.ts"
import {
  drawOperator,
  drawProcessFault,
  drawStranger,
  type HookFault,
  type Moment,
  moments,
  type OperatorFault,
  operatorKinds,
  type ProcessFault,
  processKinds,
  type StrangerFault,
} from "./faults.ts"

/** Anything that can befall a fleet. */
export type Fault = ProcessFault | HookFault | StoreFault | StrangerFault | OperatorFault

/** The name of a kind of fault. */
export type FaultKind = Fault["kind"]

/** A fault in its time. */
export type TimedFault = Fault & {
  /** When, in milliseconds since the run began. */
  readonly at: number
  /** With it: not at once, but with the next line of this kind in the worker's trace. */
  readonly on?: Moment
}

/** How a worker's clocks differ from true time. */
export interface PlannedClock {
  /** Milliseconds that its wall clock is ahead. */
  readonly wallOffset: number
  /** How fast its clocks go; 1 is right. */
  readonly rate: number
  /** Whether it has a boot clock. */
  readonly bootClock: boolean
  /** Milliseconds that its uptime is ahead of its machine's, where it is made up. */
  readonly bootAhead?: number
  /** The machine whose clocks these are: they are those of all its processes. */
  readonly machine: string
}

/** One worker of a fleet. */
export interface PlannedWorker extends PlannedClock {
  /** Of its leases, in milliseconds: a fleet may be configured in more than one way, as during a deploy. */
  readonly ttl: number
  /**
   * Which release it runs: this one, the last one before it, or first that one and this one from its second start on.
   */
  readonly release: PlannedRelease
}

/** Of a worker. */
export type PlannedRelease = "this" | "last" | "upgraded"

/** Of the managers, in milliseconds. */
export interface PlannedTimes {
  /** Of leases: the longest, where workers have others of their own. */
  readonly ttl: number
  /** How long an owner keeps a sandbox at least, also when it is asked for it. */
  readonly minTenure: number
  /** What work may take to end. */
  readonly settleWithin: number
  /** What a checkpoint may take. */
  readonly checkpointWithin: number
  /** What a restore may take. */
  readonly restoreWithin: number
  /** What a drain may take. Without one: 5 s more than its work and its checkpoint may. */
  readonly killGrace?: number
}

/** All that a run is determined by, beside the code. */
export interface Plan {
  /** It was drawn from this. */
  readonly seed: number
  /** How long faults and workload last, in milliseconds. */
  readonly duration: number
  /** The workers, by name. */
  readonly workers: Readonly<Record<string, PlannedWorker>>
  /** The sandboxes' keys. */
  readonly keys: readonly string[]
  /** What kind of store it is, and how that names versions. */
  readonly store: { readonly profile: StoreProfileName; readonly generations: GenerationStyle }
  /** Each machine knows which of its processes have ended, and records name them; only where its boots have names. */
  readonly oracles: boolean
  /** The managers' times. */
  readonly times: PlannedTimes
  /** What a client waits between two calls, on average, in milliseconds. */
  readonly pace: number
  /** What befalls the fleet, in the order of time. */
  readonly faults: readonly TimedFault[]
}

/** What plans are drawn within. */
export interface PlanBounds {
  readonly workers: number
  readonly keys: number
  readonly duration: number
  /** The kinds of stores that may be drawn. */
  readonly stores: readonly StoreProfileName[]
  /** The kinds of faults that may be drawn. */
  readonly kinds: readonly FaultKind[]
  /** How far wall clocks may be off, in milliseconds, either way. */
  readonly maxOffset: number
  /** How far rates may be off: 0.05 is 5 %. */
  readonly maxDrift: number
  /** Those that aren't drawn. */
  readonly times: Partial<PlannedTimes>
}

/** All kinds. */
export const faultKinds: readonly FaultKind[] = [...processKinds, ...storeFaultKinds, "stranger", ...operatorKinds]

/** The seed's plan within bounds. */
export function drawPlan(seed: number, bounds: PlanBounds): Plan {
  const draw = new Draw(seed)
  const names = Array.from({ length: bounds.workers }, (_, index) => String.fromCharCode(97 + index))
  const ttls = bounds.times.ttl === undefined ? drawTtls(draw.fork("ttls"), names) : names.map(() => bounds.times.ttl!)
  const times = { ...drawTimes(draw.fork("times")), ...bounds.times, ttl: Math.max(...ttls) }
  const chosen = draw.fork("store")
  const store = { profile: chosen.pick(bounds.stores), generations: chosen.pick(generationStyles) }
  const keys = Array.from({ length: bounds.keys }, (_, index) => `k${index + 1}`)
  return {
    seed,
    duration: bounds.duration,
    workers: drawWorkers(names, ttls, store.profile, draw, bounds),
    keys,
    store,
    oracles: storeProfiles[store.profile].isOfBoots === true && draw.fork("witnesses").chance(0.5),
    times,
    pace: draw.fork("pace").pick([300, 2000, 2000, 8000]),
    faults: drawFaults(draw.fork("faults"), {
      ...{ workers: names, keys, duration: bounds.duration, ttl: times.ttl, corners: cornersOf(times) },
      kinds: kindsFor(store.profile, bounds),
    }),
  }
}

/** Of each worker: in half of the fleets the same. Their guards follow: two seconds, or a tenth. */
function drawTtls(draw: Draw, names: readonly string[]): readonly number[] {
  const one = (): number => draw.pick([6000, 10_000, 30_000, 30_000])
  const same = one()
  return draw.chance(0.5) ? names.map(() => same) : names.map(one)
}

function drawTimes(draw: Draw): Omit<PlannedTimes, "ttl"> {
  return {
    minTenure: draw.pick([0, 1000, 5000]),
    settleWithin: draw.pick([1000, 10_000]),
    checkpointWithin: draw.pick([5000, 10_000]),
    restoreWithin: draw.pick([10_000, 30_000]),
  }
}

/** Each is alone on a machine, but where the store's time is that of a boot: there a machine has one, some or all. */
function drawWorkers(
  names: readonly string[],
  ttls: readonly number[],
  profile: StoreProfileName,
  draw: Draw,
  bounds: PlanBounds,
): Plan["workers"] {
  const drawn = draw.fork("clocks")
  const clocks = names.map(() => drawClock(drawn, bounds))
  const releases = drawReleases(draw.fork("releases"), names)
  const { isOfBoots = false } = storeProfiles[profile]
  const most = isOfBoots ? draw.fork("machines").pick([1, 2, names.length]) : names.length
  const uptimes = draw.fork("uptimes")
  const madeUp = (): Pick<PlannedClock, "bootAhead"> =>
    isOfBoots && uptimes.chance(1 / 8) ? { bootAhead: uptimes.pick(MADE_UP) } : {}
  return Object.fromEntries(
    names.map((name, index) => [
      name,
      {
        ...clocks[index % most]!,
        ...{ machine: `m${1 + (index % most)}`, ttl: ttls[index]!, release: releases[index]! },
        ...madeUp(),
      },
    ]),
  )
}

/** In ms. A container's own uptime lacks what its machine ran before. */
const MADE_UP = [-3_600_000, -60_000, -10_000, -900, 60_000]

/** One fleet in three is in the midst of a deploy. */
function drawReleases(draw: Draw, names: readonly string[]): readonly PlannedRelease[] {
  const deploys = draw.chance(1 / 3)
  return names.map(() => (deploys ? draw.pick(["this", "last", "upgraded"] as const) : "this"))
}

/** One in four is right, one in four as wrong as it may be. */
function drawClock(draw: Draw, { maxOffset, maxDrift }: PlanBounds): Omit<PlannedClock, "machine"> {
  const wrong = (most: number): number => draw.pick([0, 1, draw.next(), draw.next()]) * most * draw.pick([1, -1])
  return { wallOffset: Math.round(wrong(maxOffset)) + 0, rate: 1 + wrong(maxDrift), bootClock: !draw.chance(1 / 8) }
}

/** The times at which the protocol does something else than before. */
function cornersOf({ ttl, settleWithin }: PlannedTimes): readonly number[] {
  const guard = Math.max(2000, ttl / 10)
  return [ttl / 3, ttl - guard, ttl, ttl + 1000, 2 * ttl, guard, 1000, 12_000, 15_000, settleWithin]
}

/** What faults are drawn within. */
interface FaultBounds {
  readonly workers: readonly string[]
  readonly keys: readonly string[]
  readonly duration: number
  readonly ttl: number
  readonly corners: readonly number[]
  readonly kinds: readonly FaultKind[]
}

function drawFaults(draw: Draw, bounds: FaultBounds): readonly TimedFault[] {
  const on = draw.some(bounds.kinds, 0.5)
  const gap = draw.pick([5000, 15_000, 15_000, 40_000])
  const faults: TimedFault[] = []
  if (on.length === 0) return faults
  for (let at = draw.millis(1, gap); at < bounds.duration; at += nextGap(draw, gap)) {
    const fault = drawFault(draw.pick(on), draw, bounds)
    faults.push({ at, ...fault, ...(draw.chance(1 / 3) && { on: draw.pick(moments) }) })
  }
  for (let accidents = draw.int(0, 4); accidents > 0; accidents--) faults.push(...drawAccident(draw, bounds))
  return faults.filter(({ at }) => at < bounds.duration).sort((a, b) => a.at - b.at)
}

/**
 * Several that befall one worker and that chance alone would hardly bring together: its work doesn't end, it is cut
 * off, and then its machine sleeps; its sandboxes fail to come up again and again; it is stopped while it waits, until
 * its turn is over; its release is lost, and it is stopped until another has the key; a hook hangs, and hangs again; it
 * is stopped while a restore is slow, until its lease is over; a stranger gets a key and leaves it to whoever waits; a
 * record is deleted under its owner, again under the next one, and that one dies while it waits the first one out.
 */
function drawAccident(draw: Draw, { workers, keys, duration, kinds, ttl }: FaultBounds): readonly TimedFault[] {
  const key = draw.pick(keys)
  const keeps = draw.chance(0.5)
  const worker = draw.pick(workers)
  const at = draw.int(1, Math.max(1, duration - 40_000))
  const cutOff = at + draw.int(1000, 12_000)
  const hook = draw.pick(["use", "run"] as const)
  const end = draw.pick(["grant", "delete"] as const)
  const hangs = draw.pick(["restore", "checkpoint", "checkpoint", "close", "schema", "migrate"] as const)
  const accidents: readonly (readonly TimedFault[])[] = [
    [
      { at, kind: "slowHook", worker, hook, ms: 45_000 },
      { at: at + 1, kind: "slowHook", worker, hook, ms: 45_000 },
      { at: cutOff, kind: "partition", worker, forMs: ttl },
      { at: cutOff + Math.round(ttl * (0.35 + draw.next() / 4)), kind: "suspend", worker, ms: draw.int(1001, 3000) },
    ],
    [0, 1000, 2000, 3000, 8000, 15_000].map((later) => ({
      ...{ kind: "failingHook", worker, hook: "restore" },
      at: at + later,
    })),
    [
      ...workers.map((name): TimedFault => ({ at, kind: "slowHook", worker: name, hook: "use", ms: 30_000 })),
      ...[0, 20_000, 40_000].map((later): TimedFault => ({
        ...{ kind: "pause", worker, ms: draw.int(13_000, 18_000), on: "Waiting" },
        at: at + later,
      })),
    ],
    [
      ...[0, 15_000, 30_000].flatMap((later): TimedFault[] => [
        { at: at + later, kind: "loseRequest", worker, op: "put", area: "leases", on: "checkpointing" },
        { at: at + later, kind: "pause", worker, ms: ttl + draw.int(1000, 8000), on: "releasing" },
      ]),
      { at: at + 40_000, kind: "partition", worker, forMs: draw.int(7000, 14_000), on: "releasing" },
    ],
    [0, 20_000].map((later): TimedFault => ({
      ...{ at: at + later, kind: "slowHook", worker, hook: hangs },
      ...{ ms: draw.int(30_000, 120_000), obeys: draw.chance(0.5) },
    })),
    [0, 15_000, 30_000].flatMap((later): TimedFault[] => [
      { at: at + later, kind: "slowHook", worker, hook: "restore", ms: draw.int(1, 2000) },
      { at: at + later, kind: "pause", worker, ms: ttl + draw.int(1000, 8000), on: "restoring" },
    ]),
    ([0, 4000, 7000, 12_000, 16_000] as const).map((later, turn) => ({
      ...{ kind: "stranger", worker: null, key, keeps },
      ...{ at: at + later, move: (["wait", "own", "own", "own", "leave"] as const)[turn]! },
    })),
    ([0, 4000, 9000, 14_000, 19_000] as const).map((later, turn) => ({
      ...{ kind: "stranger", worker: null, key, keeps },
      ...{ at: at + later, move: (["wait", "own", "own", "own", end] as const)[turn]! },
    })),
    [
      ...[0, 3000].map((later): TimedFault => ({ at: at + later, kind: "deleteRecord", worker: null, key })),
      { at: at + 1, kind: "crash", worker, ms: draw.int(1, 5000), on: "restoring" },
    ],
  ]
  return draw.pick(accidents).filter(({ kind }) => kinds.includes(kind))
}

function drawFault(kind: FaultKind, draw: Draw, { workers, keys, corners }: FaultBounds): Fault {
  if (kind === "stranger") return drawStranger(keys, draw)
  if (kind === "deleteRecord" || kind === "damageRecord") return drawOperator(kind, keys, draw)
  const worker = draw.pick(workers)
  return isOfStore(kind) ? drawStoreFault(kind, worker, draw, corners) : drawProcessFault(kind, worker, draw, corners)
}

/** Whether it befalls the requests to the store. */
export const isOfStore = (kind: FaultKind): kind is StoreFaultKind =>
  (storeFaultKinds as readonly string[]).includes(kind)

/**
 * Where the store stamps with the very clock that decides, its answers can't disagree. And where it has no clock, or
 * one for each boot, times in records are nobody's but their writer's: a stranger could go by none of them.
 */
const without: Partial<Record<StoreProfileName, readonly FaultKind[]>> = {
  memory: ["skewDate", "staleDate"],
  clockless: ["stranger"],
  file: ["skewDate", "staleDate", "noDate", "cachedAnswer", "stranger"],
}

/** Whether such a fault can befall such a store. */
export const canBefall = (profile: StoreProfileName, kind: FaultKind): boolean => !without[profile]?.includes(kind)

const kindsFor = (profile: StoreProfileName, { kinds }: PlanBounds): readonly FaultKind[] =>
  kinds.filter((kind) => canBefall(profile, kind))

/** Often close behind another, else up to twice the usual gap. */
const nextGap = (draw: Draw, usual: number): number =>
  draw.chance(0.3) ? draw.int(1, 1500) : draw.int(1, Math.round(usual * 2))
