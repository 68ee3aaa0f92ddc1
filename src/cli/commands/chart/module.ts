/**
 * The machine in a module of the user's. The module is run by the runtime of the command: its code is trusted as a
 * script's is.
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
 * What a module may take to load, and each promise that it exports, in ms: longer than any build, shorter than a CI
 * job.
 */
const LOAD_WITHIN = 60_000

/**
 * Loads `path` or `path#export`. Without a name it is the default export, or the only machine that is exported. A
 * promise of one is awaited. What the module prints goes to standard error. Rejects with UsageError where there is no
 * file, no machine, or more than one, and where the module doesn't load within a minute.
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

/** A file whose name has a number sign is a file. */
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

/** A module whose top-level `await` never settles would end the process with no word of ours. */
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

/** Machines, and what has one, such as the definition of a sandbox that is a machine. */
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
