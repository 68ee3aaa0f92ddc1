/**
 * The machine in a module of the user's. The command's runtime runs the module: its code is trusted as a script is.
 */
import { statSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import type { AnyStateMachine } from "xstate"
import { isMachine } from "../../../draw/machine/read-machine.ts"
import type { Clock } from "../../../runtime/time/clock.ts"
import { UsageError } from "../../errors/usage-error.ts"
import { printingAside } from "./printing-aside.ts"

type Exports = Readonly<Record<string, unknown>>

/**
 * The longest that a module may take to load, and each promise that it exports, in ms. Builds are shorter, a CI job is
 * longer.
 */
const LOAD_WITHIN = 60_000

/**
 * Loads `path` or `path#export`. Without a name it is the default export, or the only machine that is exported. A
 * promise of a machine is awaited. What the module prints goes to standard error. Rejects with UsageError if there is
 * no file, no machine or more than one, and if the module doesn't load within a minute.
 */
export async function machineOf({ cwd, clock }: { cwd: string; clock: Clock }, name: string): Promise<AnyStateMachine> {
  const { path, wanted } = parted(cwd, name)
  const found = await printingAside(() => within(clock, name, () => load(path, name).then(machinesIn)))
  const names = [...found.keys()].map((each) => JSON.stringify(each)).join(", ")
  if (wanted !== undefined) {
    const machine = found.get(wanted)
    if (machine !== undefined) return machine
    const next = found.size === 0 ? "Export one that createMachine() returns" : `Use one of ${names}`
    throw new UsageError(`${JSON.stringify(name)} is no machine of XState 5, nor has it one`, next)
  }
  const [only] = found.values()
  const machine = found.get("default") ?? (found.size === 1 ? only : undefined)
  if (machine !== undefined) return machine
  throw found.size === 0
    ? new UsageError(
        `${JSON.stringify(name)} exports no machine of XState 5`,
        "Export one that createMachine() returns",
      )
    : new UsageError(
        `${JSON.stringify(name)} exports several machines`,
        `Say which, as in ${path}#${[...found.keys()][0]}: it has ${names}`,
      )
}

/** The path and the export's name. A file whose name has a number sign is meant as a file. */
function parted(cwd: string, name: string): { path: string; wanted: string | undefined } {
  const at = name.lastIndexOf("#")
  if (at < 0 || isFile(resolve(cwd, name))) return { path: resolve(cwd, name), wanted: undefined }
  return { path: resolve(cwd, name.slice(0, at)), wanted: name.slice(at + 1) }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

async function load(path: string, name: string): Promise<Exports> {
  if (!isFile(path)) throw new UsageError(`There is no file ${JSON.stringify(path)}`, "Give the path of a module")
  try {
    return (await import(pathToFileURL(path).href)) as Exports
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${JSON.stringify(name)} can't be loaded: ${message}`, "Mend the module, or give another one")
  }
}

/**
 * Runs it; rejects after LOAD_WITHIN. A top-level `await` that never settles would else end the process without a
 * message.
 */
async function within<A>(clock: Clock, name: string, run: () => Promise<A>): Promise<A> {
  const { promise: over, reject } = Promise.withResolvers<never>()
  const tooLong = new UsageError(
    `${JSON.stringify(name)} isn't loaded after ${LOAD_WITHIN / 1000} s`,
    "Mend what it waits for, or give another module",
  )
  const timer = clock.after(LOAD_WITHIN, () => reject(tooLong))
  try {
    return await Promise.race([run(), over])
  } finally {
    timer.cancel()
  }
}

/** The machines among the exports, by name: an export itself, or the one that it has, as a sandbox's definition has. */
async function machinesIn(exports: Exports): Promise<ReadonlyMap<string, AnyStateMachine>> {
  const found = new Map<string, AnyStateMachine>()
  for (const [name, given] of Object.entries(exports)) {
    const value = given instanceof Promise ? await given.catch(() => undefined) : given
    const machine = isMachine(value) ? value : machineWithin(value)
    if (machine !== undefined) found.set(name, machine)
  }
  return found
}

function machineWithin(value: unknown): AnyStateMachine | undefined {
  if (typeof value !== "object" || value === null) return undefined
  try {
    const { machine } = value as { readonly machine?: unknown }
    return isMachine(machine) ? machine : undefined
  } catch {
    return undefined // what throws when it is looked at is none
  }
}
