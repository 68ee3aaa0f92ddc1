/**
 * Changes of owner, told from the lock lines of all workers that one trace has seen. Pure but for what it remembers.
 */
import type { Owner } from "../locks/api/errors.ts"
import type { HandoffLine, LockLine } from "./trace.ts"

/** What is known of a key's owner. */
interface KnownOwner {
  readonly ownerId: string
  readonly token: number
  /** Since when it no longer acts; undefined while it may. */
  readonly leftAt?: number
  /** The store knows that it left: nobody takes the key over from there. */
  readonly hasGivenUp?: boolean
}

/** Remembers the owner of each key, or of so many that were heard of last. */
export class Handoffs {
  readonly #most: number
  readonly #owners = new Map<string, KnownOwner>()

  constructor(most: number = Infinity) {
    this.#most = most
  }

  /** The change of owner that this line completes, if it does. Lines come in the order of the trace. */
  after(line: LockLine): HandoffLine | undefined {
    const last = this.#owners.get(line.key)
    const next = ownerAfter(line, last)
    if (next !== undefined) this.#remember(line.key, next)
    const { at, worker, key, ownerId, token } = line
    if (line.type !== "Acquired" || token === undefined || !isHandoff(line.how)) return undefined
    // What is taken over had an owner: where the last one seen has given it up, another, that these lines don't tell
    // of.
    const known = line.how === "takeover" && last?.hasGivenUp === true ? undefined : last
    const ms = known?.leftAt === undefined ? null : at - known.leftAt
    const from = { from: known?.ownerId ?? null, fromToken: known?.token ?? null }
    return { kind: "handoff", at, worker, key, how: line.how, ...from, to: ownerId, token, ms }
  }

  #remember(key: string, owner: KnownOwner): void {
    this.#owners.delete(key)
    this.#owners.set(key, owner)
    if (this.#owners.size <= this.#most) return
    const [oldest] = this.#owners.keys()
    this.#owners.delete(oldest!)
  }
}

function ownerAfter(line: LockLine, known: KnownOwner | undefined): KnownOwner | undefined {
  const { type, ownerId, token = 0, at } = line
  switch (type) {
    case "Acquired":
    case "Renewed":
    case "Recovered":
      return supersedes(token, known) ? { ownerId, token } : undefined
    case "Waiting":
      return line.owner !== undefined && isNews(line.owner, known)
        ? { ownerId: line.owner.ownerId, token: line.owner.token }
        : undefined
    case "Granted":
    case "Released":
    case "Lost":
      return known?.ownerId === ownerId && known.leftAt === undefined
        ? { ...known, leftAt: at, hasGivenUp: type === "Granted" || line.result === "released" }
        : undefined
    case "Degraded":
    case "Suspect":
    case "ReleaseRequested":
    case "GaveUp":
      return undefined
  }
}

/** What a former owner says late is no news. */
function supersedes(token: number, known: KnownOwner | undefined): boolean {
  return known === undefined || token > known.token
}

/** A stranger publishes no token: it counts as 0. */
function isNews(owner: Owner, known: KnownOwner | undefined): boolean {
  return owner.token === 0 ? owner.ownerId !== known?.ownerId : supersedes(owner.token, known)
}

function isHandoff(how: LockLine["how"]): how is HandoffLine["how"] {
  return how === "granted" || how === "reserved" || how === "takeover"
}
