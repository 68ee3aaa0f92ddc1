/**
 * Whether a script can be meant. Each of its faults has a kind that exists, with the fields of that kind and no others.
 * It names a worker and a key of the run, a time before the run's end, and fits the store. A misspelt fault would
 * otherwise never happen, and nobody would know.
 */
import { oneOf, refusal, refuseUnknown, shown } from "../../../runtime/input/options.ts"
import { checkStoreFault, type StoreFault } from "../../simulated-store/faults.ts"
import { damages } from "../../simulated-store/operator.ts"
import { strangerMoves } from "../../simulated-store/stranger.ts"
import { type Hook, moments } from "./faults.ts"
import { canBefall, drawPlan, type Fault, faultKinds, isOfStore, type PlanBounds, type TimedFault } from "./plan.ts"

/** What can be named in a script of a run. */
interface Names {
  readonly workers: readonly string[]
  readonly keys: readonly string[]
}

const noNames: Names = { workers: [], keys: [] }

/** Throws where a field can't be what it is. */
type FieldCheck = (name: string, value: unknown, names: Names) => void

const isOne =
  (values: readonly string[]): FieldCheck =>
  (name, value) =>
    void oneOf(name, value as string, values)

const worker: FieldCheck = (name, value, { workers }) => void oneOf(name, value as string, workers)
const key: FieldCheck = (name, value, { keys }) => void oneOf(name, value as string, keys)
const nobody: FieldCheck = (name, value) =>
  demand(value === null, name, value, "null: it befalls no worker in particular")
const millis: FieldCheck = (name, value) =>
  demand(isNumber(value) && value >= 0, name, value, "milliseconds, 0 or more")
const shift: FieldCheck = (name, value) => demand(isNumber(value), name, value, "milliseconds, less than 0 for back")
const optionalFlag: FieldCheck = (name, value) => (value === undefined ? undefined : flag(name, value, noNames))
const flag: FieldCheck = (name, value) => demand(typeof value === "boolean", name, value, "true or false")

const hooks: Readonly<Record<Hook, true>> = {
  ...{ restore: true, run: true, use: true, checkpoint: true, close: true, migrate: true, schema: true },
}
const hook = isOne(Object.keys(hooks))

type OwnFault = Exclude<Fault, StoreFault>
type FieldsOf<K extends OwnFault["kind"]> = Exclude<keyof Extract<OwnFault, { readonly kind: K }>, "kind">

/** What each kind has; those of the store check themselves. */
const fields: { readonly [K in OwnFault["kind"]]: { readonly [F in FieldsOf<K>]: FieldCheck } } = {
  crash: { worker, ms: millis },
  pause: { worker, ms: millis },
  suspend: { worker, ms: millis },
  reboot: { worker, ms: millis, wall: shift },
  stall: { worker, ms: millis },
  stepWall: { worker, ms: shift },
  drain: { worker, ms: millis },
  slowHook: { worker, hook, ms: millis, obeys: optionalFlag },
  failingHook: { worker, hook },
  stranger: { worker: nobody, key, move: isOne(strangerMoves), keeps: flag },
  deleteRecord: { worker: nobody, key },
  damageRecord: { worker: nobody, key, leaves: isOne(damages), ms: millis },
}

/** The script, which can be meant on a fleet within these bounds. Throws InvalidConfigError that says what could be. */
export function scriptOf(script: readonly TimedFault[], bounds: PlanBounds): readonly TimedFault[] {
  demand(Array.isArray(script), "script", script, "a list of faults")
  const { workers, keys } = drawPlan(0, bounds) // of every seed they are the same
  const names = { workers: Object.keys(workers), keys }
  for (const [index, fault] of script.entries()) checkFault(`script[${index}]`, fault, names, bounds)
  return script
}

function checkFault(path: string, timed: TimedFault, names: Names, { duration, stores }: PlanBounds): void {
  demand(typeof timed === "object" && timed !== null, path, timed, 'a fault: { at: 0, kind: "crash", … }')
  const { at, on, ...fault } = timed
  oneOf(`${path}.kind`, fault.kind, faultKinds)
  const isPossible = stores.some((store) => canBefall(store, fault.kind))
  demand(
    isPossible,
    `${path}.kind`,
    fault.kind,
    `a kind that can befall the store ${stores.join(" or ")}, or another store`,
  )
  demand(isNumber(at) && at >= 0 && at < duration, `${path}.at`, at, `milliseconds from 0 to the run's ${duration}`)
  if (on !== undefined) oneOf(`${path}.on`, on, moments)
  if (isStoreFault(fault)) {
    checkStoreFault(fault)
    if (fault.worker !== null) oneOf(`${path}.worker`, fault.worker, names.workers)
    return
  }
  const checks: Readonly<Record<string, FieldCheck>> = fields[fault.kind]
  const known = ["at", "on", "kind", ...Object.keys(checks)].map((name) => [name, true as const])
  refuseUnknown(`${path}, a ${fault.kind},`, timed, Object.fromEntries(known))
  for (const [name, check] of Object.entries(checks))
    check(`${path}.${name}`, (fault as Readonly<Record<string, unknown>>)[name], names)
}

const isStoreFault = (fault: Fault): fault is StoreFault => isOfStore(fault.kind)

const isNumber = (value: unknown): value is number => Number.isFinite(value)

function demand(holds: boolean, name: string, given: unknown, ask: string): void {
  if (holds) return
  throw refusal(`${name} is ${shown(given)}`, `Give ${ask}`)
}
