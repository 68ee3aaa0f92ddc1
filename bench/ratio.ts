/**
 * How a figure is told: one line each, `ratio <name> <value> goal <op> <value>`. Speed is measured against a peer or a
 * bare minimum in the same run; bytes are what they are. The exit code says whether all goals are met.
 */
import process from "node:process"

/** Prints a figure beside its goal. */
export function ratio(name: string, value: number, op: "<=" | ">=" | "=", goal: number): void {
  console.log(`ratio ${name} ${Number(value.toFixed(3))} goal ${op} ${goal}`)
  const met = op === "=" ? value === goal : op === "<=" ? value <= goal : value >= goal
  if (!met) process.exitCode = 1
}

/** Prints what a figure is made of. */
export function detail(name: string, value: number, unit: string): void {
  console.log(`  ${name}: ${value.toPrecision(3)} ${unit}`)
}

/** CPU time of this process while `work` runs, in microseconds: all its threads, garbage collection included. */
export async function cpuOf(work: () => Promise<void> | void): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** The same by the clock on the wall. */
export async function wallOf(work: () => Promise<void> | void): Promise<number> {
  const from = performance.now()
  await work()
  return (performance.now() - from) * 1000
}

/** What the heap holds once all that can go is gone, in bytes. Throws where Node was started without `--expose-gc`. */
export function heapUsed(): number {
  const { gc } = globalThis as { gc?: () => void }
  if (gc === undefined) throw new Error("Start it with --expose-gc")
  for (let round = 0; round < 4; round++) gc()
  return process.memoryUsage().heapUsed
}

/**
 * The median of what each of several alternatives costs, run in turns so that a slow moment of the machine strikes all
 * of them alike. The first turn warms up and doesn't count.
 */
export async function inTurns<Name extends string>(
  rounds: number,
  alternatives: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(alternatives) as Name[]
  const costs = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const cost = await alternatives[name]()
      if (round > 0) costs[name].push(cost)
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(costs[name])])) as Record<Name, number>
}

/** The middle one. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
