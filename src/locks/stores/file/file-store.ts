/**
 * The store in a directory that several processes share. It joins the parts of this folder, and answers in the terms of
 * the port. Which write is applied is decided by swap.ts alone.
 *
 * Lease records are written at once and never synced: an expired lease is no loss. `state` and `store` are synced
 * before they are acknowledged. What this machine knows of the processes in a record is told by process-oracle.ts.
 *
 * Not promised: Windows (no store time, other rules for links), file systems without hard links, and on network file
 * systems anything beyond what `link`, `mkdir` and a fresh `readdir` promise there.
 */
import { resolve } from "node:path"
import process from "node:process"
import { aClock, type OptionChecks, refusal, refuseUnknown, shown } from "../../../runtime/input/options.ts"
import { type Clock, liveClock } from "../../../runtime/time/clock.ts"
import { StoreMisconfiguredError, StoreUnavailableError } from "../../api/errors.ts"
import type {
  Area,
  CheckpointStore,
  Generation,
  LeaseStore,
  ListOptions,
  ObjectRef,
  Page,
  PromptRequests,
  ReadAnswer,
  ReadOptions,
  RequestOptions,
  StartOptions,
  StoreCapabilities,
  Watching,
  ProcessOracle,
  WriteAnswer,
} from "../port.ts"
import { probe, type ProbeResult } from "../probe.ts"
import { failure } from "./disk/failures.ts"
import { durableFiles, type Files, quickFiles } from "./disk/files.ts"
import { RequestBudget } from "./disk/request-budget.ts"
import { run, runNow, step, type Steps } from "./disk/steps.ts"
import { generationNumber, isDurable, objectDirectory, type Target } from "./objects/layout.ts"
import { list } from "./objects/list.ts"
import { prepare, requireArea, requireStore } from "./objects/prepare.ts"
import { put, remove, type Swap } from "./objects/swap.ts"
import { readCurrent } from "./objects/versions.ts"
import { MachineProcesses } from "./process-oracle.ts"
import { forget, type ReachedDirectory, recall, remember } from "./proof.ts"
import { knownTime, storeTime, type StoreTime } from "./time.ts"
import { wholeOrUnknown } from "./torn.ts"
import { watchVersions } from "./watch.ts"

/** How a file store is made. */
export interface FileStoreOptions {
  /** Made where it is missing. All processes that contend name the same one, by the same path. */
  readonly directory: string
  /** The clock that the locks of this store read too; default: this process's. */
  readonly clock?: Clock
}

/** A store in a directory. Throws InvalidConfigError. Its `start` rejects with anything else that is wrong. */
export function fileStore(options: FileStoreOptions): LeaseStore & CheckpointStore {
  refuseUnknown("fileStore", options, OPTIONS, ["directory"])
  const { directory, clock = liveClock } = options
  return new FileStore(resolve(directory), clock)
}

/** Refuses what is no path of a directory. */
export function aDirectory(name: string, path: unknown): void {
  if (typeof path === "string" && path !== "" && !path.includes("\0")) return
  throw refusal(`${name} is ${shown(path)}, which is no path`, "Give fileStore a directory, such as /var/lib/leasehold")
}

const OPTIONS: OptionChecks<FileStoreOptions> = { directory: aDirectory, clock: aClock }

/** A request as the steps it takes. */
type FileWork<A> = (target: Target, budget: RequestBudget) => Steps<A>

class FileStore implements LeaseStore, CheckpointStore {
  readonly leases = true as const
  readonly checkpoints = true as const
  readonly name: string
  readonly oracle?: ProcessOracle
  readonly prompt: PromptRequests = {
    read: (ref, options) => {
      try {
        return this.#stamped(this.#now(ref, options, this.#reading(options)))
      } catch (error) {
        return this.#unread(ref, error)
      }
    },
    put: (ref, expected, body, options) => this.#writeNow(ref, options, this.#putting(ref, expected, body)),
    remove: (ref, expected, options) => this.#writeNow(ref, options, this.#removing(ref, expected)),
  }
  readonly #root: string
  readonly #clock: Clock
  readonly #id: string
  readonly #bootId: string | undefined
  #capabilities: StoreCapabilities
  #time: StoreTime | undefined
  #started: Promise<void> | undefined
  /** Durable objects with a write that ended unanswered: what their directories show may not be on the disk. */
  readonly #unsure = new Set<string>()

  constructor(root: string, clock: Clock) {
    this.name = `file:${root}`
    this.#root = root
    this.#clock = clock
    this.#id = clock.id()
    const { bootId } = clock
    this.#bootId = bootId
    if (bootId !== undefined && bootId === liveClock.bootId) this.oracle = new MachineProcesses(bootId)
    const time =
      bootId === undefined
        ? ({ clock: "none", sameClock: false } as const)
        : ({ clock: "exact", bootId, sameClock: true } as const)
    this.#capabilities = { ...time, deletes: true, cheapReads: true, writeSpacing: 0 }
  }

  get capabilities(): StoreCapabilities {
    return this.#capabilities
  }

  start({ probe: depth = "once", ...options }: StartOptions): Promise<void> {
    if (depth === "never") return this.#startReading(options)
    if (depth === "again") this.#started = undefined
    this.#started ??= this.#start(options, depth === "again").catch((error: unknown) => {
      this.#started = undefined
      throw failure(error, "starting", this.#root)
    })
    return this.#started
  }

  async read(ref: ObjectRef, options: ReadOptions): Promise<ReadAnswer> {
    if (!isDurable(ref)) return this.prompt.read(ref, options)
    try {
      return this.#stamped(await this.#later(ref, options, this.#reading(options)))
    } catch (error) {
      return this.#unread(ref, error)
    }
  }

  async put(ref: ObjectRef, expected: Generation, body: Uint8Array, options: RequestOptions): Promise<WriteAnswer> {
    if (!isDurable(ref)) return this.prompt.put(ref, expected, body, options)
    return this.#write(ref, options, this.#putting(ref, expected, body))
  }

  async remove(ref: ObjectRef, expected: Generation, options: RequestOptions): Promise<WriteAnswer> {
    if (!isDurable(ref)) return this.prompt.remove(ref, expected, options)
    return this.#write(ref, options, this.#removing(ref, expected))
  }

  async list(area: Area, options: ListOptions): Promise<Page> {
    const budget = new RequestBudget(this.#clock, options, this.#root)
    const listed = { files: budget.guarded(durableFiles), clock: this.#clock, root: this.#root, area }
    try {
      return await budget.within(() => run(list(listed, options)))
    } catch (error) {
      throw failure(error, `listing ${area}`, this.#root)
    }
  }

  /** Hears of this machine's writes alone, and of none where the system has no watches left. */
  watch(ref: ObjectRef, wake: (generation?: Generation) => void): Watching {
    return watchVersions(objectDirectory(this.#root, ref), wake)
  }

  /** Nothing stays open between requests. */
  async close(): Promise<void> {}

  async #start(options: RequestOptions, again: boolean): Promise<void> {
    if (process.platform === "win32") throw unsupported()
    const budget = new RequestBudget(this.#clock, options, this.#root)
    const files = budget.guarded(durableFiles)
    await budget.within(() => run(prepare(files, this.#root)))
    this.#time = await budget.within(() => run(storeTime(files, this.#root, this.#id, this.#clock)))
    const place = { files, root: this.#root, boot: this.#bootId }
    if (again) await budget.within(() => run(forget(place)))
    const proof = again ? undefined : await budget.within(() => run(recall(place)))
    const { deletes } = proof ?? (await budget.within(() => this.#probe(place, options)))
    const { id: bootId } = this.#time ?? {}
    this.#capabilities = { ...this.#capabilities, deletes, ...(bootId !== undefined && { bootId }) }
  }

  /** Where the result can't be remembered, the next start probes again. */
  async #probe(place: ReachedDirectory, options: RequestOptions): Promise<ProbeResult> {
    const proof = await probe(this, this.#clock, options)
    await run(remember(place, proof)).catch(() => {})
    return proof
  }

  /** Makes nothing and writes nothing: the directory may be another user's, or mounted for reading only. */
  async #startReading(options: RequestOptions): Promise<void> {
    try {
      if (process.platform === "win32") throw unsupported()
      const budget = new RequestBudget(this.#clock, options, this.#root)
      const files = budget.guarded(durableFiles)
      await budget.within(() => run(requireStore(files, this.#root)))
      this.#time ??= await budget.within(() => run(knownTime(files, this.#root, this.#clock)))
    } catch (error) {
      throw failure(error, "starting", this.#root)
    }
  }

  #reading(options: ReadOptions): FileWork<ReadAnswer> {
    const known = options.known === undefined ? -1 : generationNumber(options.known)
    const [root, time, unsure] = [this.#root, this.#time, this.#unsure]
    return function* ({ files, ref }, budget) {
      const directory = objectDirectory(root, ref)
      const current = yield* readCurrent(files, directory, { limit: options.limit, known }, budget.check)
      // A write that still waits for the disk would else be taken for one that survives a power cut.
      if (current.number > 0 && unsure.has(ref.name)) yield* step(files.persist(directory))
      const generation = String(current.number)
      switch (current.kind) {
        case "absent":
          if (current.number === 0) yield* requireArea(files, root, ref.area)
          return { kind: "absent" }
        case "unchanged":
          return { kind: "unchanged", generation }
        case "large":
          return { kind: "tooLarge", generation }
        case "body": {
          const body = ref.area === "leases" ? wholeOrUnknown(current, time) : current.body
          return { kind: "found", generation, body }
        }
      }
    }
  }

  #putting(ref: ObjectRef, expected: Generation, body: Uint8Array): FileWork<WriteAnswer> {
    const answer = (swap: Swap): WriteAnswer =>
      swap.kind === "applied" ? { kind: "applied", generation: String(swap.number) } : this.#without(swap, ref)
    return function* (target) {
      return answer(yield* put(target, generationNumber(expected), body))
    }
  }

  #removing(ref: ObjectRef, expected: Generation): FileWork<WriteAnswer> {
    const answer = (swap: Swap): WriteAnswer =>
      swap.kind === "applied" ? { kind: "applied", generation: expected } : this.#without(swap, ref)
    return function* (target) {
      return answer(yield* remove(target, generationNumber(expected)))
    }
  }

  /** Runs a request before any timer can be due. */
  #now<A>(ref: ObjectRef, options: RequestOptions, work: FileWork<A>): A {
    const budget = new RequestBudget(this.#clock, options, this.#root)
    if (options.signal?.aborted === true) throw budget.over()
    this.#requireBoot()
    return runNow(work(this.#target(quickFiles, ref), budget))
  }

  /** Runs a request that may wait for the disk, and whose budget may end meanwhile. */
  async #later<A>(ref: ObjectRef, options: RequestOptions, work: FileWork<A>): Promise<A> {
    const budget = new RequestBudget(this.#clock, options, this.#root)
    this.#requireBoot()
    return budget.within(() => run(work(this.#target(budget.guarded(durableFiles), ref), budget)))
  }

  #writeNow(ref: ObjectRef, options: RequestOptions, work: FileWork<WriteAnswer>): WriteAnswer {
    try {
      return this.#stamped(this.#now(ref, options, work))
    } catch (error) {
      return this.#unwritten(ref, error)
    }
  }

  async #write(ref: ObjectRef, options: RequestOptions, work: FileWork<WriteAnswer>): Promise<WriteAnswer> {
    try {
      const answer = await this.#later(ref, options, work)
      if (answer.kind === "applied") this.#unsure.delete(ref.name)
      return this.#stamped(answer)
    } catch (error) {
      this.#unsure.add(ref.name)
      return this.#unwritten(ref, error)
    }
  }

  /**
   * Throws where this process was moved to another boot: what it knows of time and of other processes is of the first.
   */
  #requireBoot(): void {
    this.#clock.read() // a reading finds out
    if (this.#clock.bootId !== this.#bootId) throw moved(this.#root)
  }

  #unread({ area, name }: ObjectRef, error: unknown): ReadAnswer {
    return { kind: "failed", error: failure(error, `reading ${area}/${name}`, this.#root) }
  }

  #unwritten({ area, name }: ObjectRef, error: unknown): WriteAnswer {
    return { kind: "unknown", error: failure(error, `writing ${area}/${name}`, this.#root) }
  }

  #target(files: Files, ref: ObjectRef): Target {
    return { files, id: this.#id, root: this.#root, ref }
  }

  #without({ kind }: Exclude<Swap, { kind: "applied" }>, ref: ObjectRef): WriteAnswer {
    if (kind === "refused") return { kind }
    return { kind: "unknown", error: overtaken(this.name, ref), overtaken: true }
  }

  #stamped<A extends object>(answer: A): A & { readonly storeTime?: number } {
    return this.#time === undefined ? answer : { ...answer, storeTime: this.#time.now() }
  }
}

function overtaken(store: string, { area, name }: ObjectRef): StoreUnavailableError {
  return new StoreUnavailableError({
    message: `${store} shows a later version of ${area}/${name} than the one just written`,
    next: "Read it again to see whether this write came before",
  })
}

function moved(directory: string): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: `The boot clock that this process used the directory ${directory} by is gone: it was moved to another boot or time namespace`,
    next: "Start it anew, rather than from a checkpoint image",
  })
}

function unsupported(): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: "The file store doesn't run on Windows",
    next: "Use gcsStore or memoryStore there; the file store runs on Linux and macOS",
  })
}
