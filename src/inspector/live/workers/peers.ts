/**
 * The fleet: this worker's own sandboxes, and those of the workers that records name, each asked at the address that it
 * publishes. Only addresses that are allowed are asked, only with a secret, and only while somebody looks. A
 * worker that can't be asked stands in the fleet with the reason.
 */
import type { Clock, Timer } from "../../../runtime/time/clock.ts"
import type { TraceLine } from "../../../trace/trace.ts"
import { addressOf } from "../../../web/addresses.ts"
import type { SandboxRow } from "../model/wire.ts"
import { unknownWorker } from "../model/worker-lines.ts"
import type { FleetSink, FleetSource } from "../stream/source.ts"
import type { LiveWorker, RecordOwner } from "./live-worker.ts"
import { Peer } from "./peer.ts"

/** Each is a connection that stays open, and a page of more workers is no page. */
export const MOST_PEERS = 64

/** Workers that can't be asked, and are named with the reason. */
const MOST_UNASKED = 64

/** How often records are looked through for owners that no event has named. In milliseconds. */
const LOOK_EVERY = 15_000

/** A worker of which nothing was heard for so long is dropped, until a record names it again. In milliseconds. */
export const FORGET_AFTER: number = 5 * 60_000

/**
 * After a change of hands the record tells who has the key: as many of them are read at once as a store takes easily.
 */
const LOOKS_AT_ONCE = 8

/**
 * When it is read: a grant doesn't know the next owner's address, which that one publishes by its first write. In
 * milliseconds.
 */
const LOOKS_AFTER: readonly number[] = [50, 200, 1000, 5000]

/** Who may be asked, and how. */
export interface FleetParts {
  readonly worker: LiveWorker
  readonly secret: string | undefined
  readonly allow: (address: URL) => boolean
  readonly peers: readonly string[]
}

/** Everybody's sandboxes. */
export class WholeFleet implements FleetSource {
  readonly #parts: FleetParts
  #running: RunningPeers | undefined

  constructor(parts: FleetParts) {
    this.#parts = parts
  }

  start(sink: FleetSink): () => void {
    const running = new RunningPeers(this.#parts, sink)
    this.#running = running
    return () => {
      running.stop()
      if (this.#running === running) this.#running = undefined
    }
  }

  /** The peer that is told under this name. */
  peer(worker: string): Peer | undefined {
    return this.#running?.peer(worker)
  }
}

class RunningPeers {
  readonly #parts: FleetParts
  readonly #sink: FleetSink
  readonly #clock: Clock
  readonly #stop: () => void
  /** By address. */
  readonly #peers = new Map<string, Peer>()
  /** Incarnations by their address, or by themselves where they have none: of one address the last counts. */
  readonly #unasked = new Map<string, string>()
  #looking: Timer | undefined
  /** Keys whose new owner is looked for. */
  readonly #sought = new Map<string, Timer>()
  #isOver = false

  constructor(parts: FleetParts, sink: FleetSink) {
    const { worker, peers } = parts
    this.#parts = parts
    this.#sink = sink
    this.#clock = worker.clock
    this.#stop = worker.start({
      rows: (rows) => {
        sink.rows(rows)
        this.#hearRows(rows)
      },
      line: (line) => {
        sink.line(line)
        this.#hear(line)
      },
      worker: (row) => sink.worker(row),
      forget: (name, isGone) => sink.forget(name, isGone),
    })
    // the user who made the list allows it
    for (const address of peers) this.#meet({ ownerId: address, address }, () => true)
    void this.#look()
  }

  stop(): void {
    this.#isOver = true
    this.#looking?.cancel()
    for (const timer of this.#sought.values()) timer.cancel()
    this.#stop()
    for (const peer of this.#peers.values()) peer.stop()
  }

  peer(worker: string): Peer | undefined {
    return [...this.#peers.values()].find((peer) => peer.worker === worker)
  }

  #hearRows(rows: readonly SandboxRow[]): void {
    for (const { owner } of rows) if (owner !== null) this.#meet(owner)
  }

  #hear(line: TraceLine): void {
    if (line.kind !== "lock") return
    if (line.type === "Waiting" && line.owner !== undefined) {
      const { ownerId, address } = line.owner
      this.#meet({ ownerId, address: address ?? null })
    }
    if (line.type === "Granted" || line.type === "Lost") this.#seek(line.key)
  }

  /** Who has a key now that it isn't its former owner's any more. */
  #seek(key: string, tries = 0): void {
    const after = LOOKS_AFTER[tries]
    if (this.#isOver || after === undefined) return
    if (tries === 0 && (this.#sought.has(key) || this.#sought.size >= LOOKS_AT_ONCE)) return // the next look finds it
    const timer = this.#clock.after(after, () => void this.#read(key, tries), { background: true })
    this.#sought.set(key, timer)
  }

  async #read(key: string, tries: number): Promise<void> {
    const record = await this.#parts.worker.recordOf(key)
    this.#sought.delete(key)
    if (record === null || "error" in record || record.ownerId === null) return
    const { ownerId, address } = record
    if (address === null && tries + 1 < LOOKS_AFTER.length) this.#seek(key, tries + 1)
    else this.#meet({ ownerId, address })
  }

  async #look(): Promise<void> {
    for (const owner of await this.#parts.worker.someOwners()) this.#meet(owner)
    if (this.#isOver) return
    this.#dropSilent()
    this.#looking = this.#clock.after(LOOK_EVERY, () => void this.#look(), { background: true })
  }

  #dropSilent(): void {
    const now = this.#clock.read().wall
    for (const [address, peer] of this.#peers) {
      if (peer.silentSince === undefined || now - peer.silentSince < FORGET_AFTER) continue
      this.#drop(address, peer)
    }
  }

  #meet({ ownerId, address }: RecordOwner, allow: FleetParts["allow"] = this.#parts.allow): void {
    const { worker, secret } = this.#parts
    if (this.#isOver || ownerId === worker.ownerId) return
    const url = address === null ? undefined : addressOf(address)
    if (url === undefined) return this.#cannotAsk(ownerId, address, "it publishes no address that can be asked")
    // a former life of ours
    if (url.href === (worker.address === null ? undefined : addressOf(worker.address)?.href)) return
    if (this.#peers.has(url.href)) return
    this.#canAsk(ownerId)
    if (!isAllowed(allow, url))
      return this.#cannotAsk(ownerId, address, "its address isn't one that may be asked (option allow)")
    if (secret === undefined) {
      return this.#cannotAsk(ownerId, address, "no secret is shared: give all workers the same LEASEHOLD_SECRET")
    }
    if (this.#peers.size >= MOST_PEERS)
      return this.#cannotAsk(ownerId, address, `${MOST_PEERS} workers are asked already`)
    this.#canAsk(address!)
    this.#askFor(url, secret)
  }

  #askFor(address: URL, secret: string): void {
    const peer = new Peer({
      ...{ address, secret, clock: this.#clock, sink: this.#sink },
      nameOf: (wanted, ownerId) => this.#nameFor(wanted, ownerId, address),
      onRows: (rows) => this.#hearRows(rows),
      onLine: (line) => this.#hear(line),
    })
    this.#peers.set(address.href, peer)
  }

  /** Names needn't differ between workers, and incarnations do. Undefined: it is this worker, under another address. */
  #nameFor(wanted: string, ownerId: string, { href }: URL): string | undefined {
    const { worker } = this.#parts
    if (ownerId === worker.ownerId) return undefined
    const others = [...this.#peers].filter(([address, { worker: name }]) => name === wanted && address !== href)
    const isTaken = wanted === worker.worker || others.some(([, { silentSince }]) => silentSince === undefined)
    if (isTaken) return `${wanted} (${ownerId})`
    // A worker that comes anew, at another port, has its name again.
    for (const [address, former] of others) this.#drop(address, former)
    return wanted
  }

  #drop(address: string, peer: Peer): void {
    peer.stop()
    this.#peers.delete(address)
    this.#sink.forget(peer.worker, true)
  }

  /** It had no address before, or there was no room for one more at its address. */
  #canAsk(place: string): void {
    const ownerId = this.#unasked.get(place)
    if (ownerId === undefined) return
    this.#unasked.delete(place)
    this.#sink.forget(ownerId, true)
  }

  #cannotAsk(ownerId: string, address: string | null, problem: string): void {
    const place = address ?? ownerId
    const former = this.#unasked.get(place)
    const [oldest] = this.#unasked.keys()
    if (former !== undefined && former !== ownerId) this.#canAsk(place)
    // Who was named longest ago is gone, as far as anybody can tell.
    else if (former === undefined && oldest !== undefined && this.#unasked.size >= MOST_UNASKED) this.#canAsk(oldest)
    this.#unasked.delete(place)
    this.#unasked.set(place, ownerId)
    if (former === ownerId) return
    this.#sink.worker({ ...unknownWorker(ownerId), ownerId, address, problem })
  }
}

/** What the user's function throws is no permission. */
function isAllowed(allow: (address: URL) => boolean, url: URL): boolean {
  try {
    return allow(new URL(url)) === true
  } catch {
    return false
  }
}
