/**
 * The names of incarnations. An incarnation is one life of one process on one store object: its name was never used
 * before, and never is again. What it holds is in key-runtimes.ts.
 */
import { shown } from "../../runtime/input/options.ts"
import { processes } from "../../runtime/machine/processes.ts"
import { liveClock } from "../../runtime/time/clock.ts"
import { InvalidConfigError } from "../api/errors.ts"
import type { Incarnation } from "../api/lock.ts"
import { bootOf, type HostHalf } from "../record.ts"

const SYNTAX = /^[A-Za-z0-9._-]{1,100}$/

const ofStore = new WeakMap<object, Incarnation>()
let ofThisProcess: string | undefined
let stores = 0

/**
 * The incarnation of this process on a store. Its name is made of the host, the pid and chance: a process with a reused
 * pid gets another name. Each store object after the first adds a number. Two store objects may lead to one place, and
 * know nothing of each other's attempts: under one name they would be two lives of one incarnation, which is an error.
 */
export function thisProcess(store: object): Incarnation {
  let incarnation = ofStore.get(store)
  if (incarnation === undefined) {
    ofThisProcess ??= `${hostPart()}.${processes.self.pid}.${liveClock.id()}`
    incarnation = { id: ++stores === 1 ? ofThisProcess : `${ofThisProcess}.${stores}` }
    ofStore.set(store, incarnation)
  }
  return incarnation
}

/** The host's name in that of the incarnation. For people to read. */
const hostPart = (): string => (processes.self.name || "host").replaceAll(/[^A-Za-z0-9.-]/g, "-").slice(0, 60)

/** Refuses a name that could not be part of an object's name. */
export function anIncarnation(name: string, incarnation: unknown): asserts incarnation is Incarnation {
  const id = (incarnation as { readonly id?: unknown } | null | undefined)?.id
  if (typeof id === "string" && SYNTAX.test(id)) return
  throw new InvalidConfigError({
    message: `${name} is ${shown(incarnation)}, with the id ${shown(id)}`,
    next: "Give an object whose id is 1 to 100 characters of A-Z a-z 0-9 . _ - that no other process ever uses",
  })
}

/**
 * What an incarnation publishes of its process, on a store whose time belongs to one boot. Of another boot, as in a
 * simulation, there is no process to name.
 */
export function hostOf(bootId: string): HostHalf {
  if (bootOf(bootId) !== liveClock.bootId) return { name: "", pid: 0, startedAt: null, bootId, pidNs: null, groups: [] }
  const { self, life } = processes
  return { ...self, bootId, groups: [], ...(life !== null && { life }) }
}
