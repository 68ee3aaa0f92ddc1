/**
 * Who contends: an incarnation is one life of one process, never seen before or after. Owns its name only; what it holds
 * is in registry.ts.
 */
import { hostname } from "node:os"
import process from "node:process"
import { liveClock } from "../runtime/clock.ts"
import { InvalidConfigError } from "./errors.ts"
import type { Incarnation } from "./lock.ts"
import type { HostHalf } from "./record.ts"

const SYNTAX = /^[A-Za-z0-9._-]{1,100}$/

const ofStore = new WeakMap<object, Incarnation>()
let ofThisProcess: string | undefined
let stores = 0

/**
 * The incarnation of this process on a store: host, pid and chance, so that a reused pid is another, and a number for
 * every store object after the first. Attempts on two of them know nothing of each other, although both may lead to one
 * place: under one name each would take the other's lease for one that an ended attempt of its own left behind.
 */
export function thisProcess(store: object): Incarnation {
  let incarnation = ofStore.get(store)
  if (incarnation === undefined) {
    ofThisProcess ??= `${hostPart()}.${process.pid}.${liveClock.id()}`
    incarnation = { id: ++stores === 1 ? ofThisProcess : `${ofThisProcess}.${stores}` }
    ofStore.set(store, incarnation)
  }
  return incarnation
}

const hostPart = (): string =>
  hostName()
    .replaceAll(/[^A-Za-z0-9.-]/g, "-")
    .slice(0, 60)

/** Only for people to read. Deno asks at the terminal for a permission it wasn't given, which a name is not worth. */
function hostName(): string {
  const { Deno: deno } = globalThis as { Deno?: { permissions: { querySync(descriptor: object): { state: string } } } }
  const known = deno === undefined || deno.permissions.querySync({ name: "sys", kind: "hostname" }).state === "granted"
  return known ? hostname() : "host"
}

/** Refuses a name that could not be part of an object's name. */
export function checkIncarnation(incarnation: Incarnation): Incarnation {
  if (typeof incarnation.id === "string" && SYNTAX.test(incarnation.id)) return incarnation
  throw new InvalidConfigError({
    message: `${JSON.stringify(String(incarnation.id))} can't name an incarnation`,
    next: "Use 1 to 100 characters of A-Z a-z 0-9 . _ - that no other process ever uses",
  })
}

/**
 * What an owner says of its host, on a store whose time is that host's. Processes of one boot share its clock. An incarnation
 * with a name that was given may be one of several in this process, which contend like processes: it tells no pid.
 */
export function hostOf(bootId: string, id: string): HostHalf {
  const isThisProcess = ofThisProcess !== undefined && id.startsWith(ofThisProcess)
  const { name, pid } = isThisProcess ? { name: hostName(), pid: process.pid } : { name: "", pid: 0 }
  return { name, pid, startedAt: null, bootId, pidNs: null, groups: [] }
}
