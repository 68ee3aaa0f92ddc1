/**
 * The sandbox with which leasehold simulates itself: a ledger to which every use adds a number of its own, or whose flag it
 * sets, and a workload that knows which numbers and flags were acknowledged, and so what every later look has to find.
 *
 * A durable use that was answered is never lost; one that was answered is not lost where its owner left in peace. A number
 * stands once, however often its use was tried, and never again after a removal. What a removal may have taken with it is
 * not asked for.
 *
 * Rows only come to more, and no state of theirs comes again; the flag goes back to what it was, and with it the bytes that are
 * saved. After a durable use has set it, it is what that one said, or what a use says that was under way then or came later.
 */
import { defineSandbox } from "../../../actors/api/definition.ts"
import type { HookContext, RunContext, Sandbox, SandboxDefinition, SandboxEnding } from "../../../actors/api/sandbox.ts"
import { unchecked } from "../../../actors/checkpoints/content/codec.ts"
import type { LeaseView } from "../../../locks/api/lock.ts"
import type { SimulatedWorker, SimulatedWorld, Workload } from "./world.ts"

/** What is saved of a ledger, and its live state. */
export interface Ledger {
  readonly rows: number[]
  /** Makes it too large for a head, so that it becomes an object of its own. */
  padding: string
  flag: number
}

/** What both releases have in common. */
const common = {
  name: "ledger",
  schema: unchecked<Ledger>(),
  idleAfter: "30 s",
  checkpointEvery: "20 s",
  restore: ({ checkpoint }: { readonly checkpoint: Ledger | undefined }): Ledger => {
    const { rows = [], padding = "", flag = 0 } = checkpoint ?? {}
    return { rows: [...rows], padding, flag }
  },
  async run(_state: Ledger, { key, clock, signal, turn, checkpoint, lease }: RunContext) {
    while (key.endsWith("2") && !signal.aborted) {
      await clock.sleep("6.5 s") // not at a full second after the acquire: then the clocks are compared
      refuseLate(lease)
      const turned = turn(() => refuseLate(lease))
      const saved = checkpoint().catch(() => {}) // what it was answered is judged by the trace
      await turned
      refuseLate(lease)
      await saved
    }
  },
  checkpoint: ({ rows, padding, flag }: Ledger): Ledger => ({ rows: [...rows], padding, flag }),
} as const

/**
 * Nothing begins, or goes on, once its lease is over by time. Told by a rejection that nobody hears, which fails the run:
 * what a hook throws after the loss is nobody's business.
 */
function refuseLate({ signal, key }: LeaseView): void {
  if (signal.aborted) void Promise.reject(new Error(`work on ${key} went on past the end of its lease`))
}

/** The release before: it has saved every key when a run begins. */
export const formerLedger: SandboxDefinition<Ledger, Ledger> = defineSandbox(common)

/** The definition. The work of every other key goes on until it is asked to end; that of the others is idle soon. */
export const ledger: SandboxDefinition<Ledger, Ledger> = defineSandbox({
  ...common,
  version: 2,
  migrate: (saved) => saved,
})

type World = SimulatedWorld<Ledger, Ledger>
type Worker = SimulatedWorker<Ledger, Ledger>

/** What is known of one key's rows. */
interface Book {
  /** Acknowledged for good: found by every look that begins later. */
  kept: Set<number>
  /** Acknowledged under a token whose owner is yet to leave. */
  readonly answered: Map<number, number[]>
  /** Removed for good. */
  readonly gone: Set<number>
  /** Removals that may still take effect. */
  removing: number
  /** How often one began or ended. */
  removals: number
  /** Of each row: what that was when it was added. */
  readonly added: Map<number, number>
  /** What the flag may be: from the last of its changes on that is acknowledged, in the order in which they were made. */
  flags: readonly FlagChange[]
  /** How often it was changed. */
  changes: number
}

/** One change of the flag, by a use or by a removal. That one is acknowledged before another doesn't say that it was made before. */
interface FlagChange {
  readonly change: number
  readonly value: number
}

function changeFlag(book: Book, value: number): FlagChange {
  const made = { change: ++book.changes, value }
  book.flags = [...book.flags, made]
  return made
}

interface Books {
  readonly of: Map<string, Book>
  /** The number of the last row. */
  last: number
}

const shelves = new WeakMap<World, Books>()

function booksOf(world: World): Books {
  let books = shelves.get(world)
  if (books === undefined) shelves.set(world, (books = { of: new Map(), last: 0 }))
  return books
}

function bookOf(world: World, key: string): Book {
  const { of } = booksOf(world)
  let book = of.get(key)
  if (book === undefined) of.set(key, (book = newBook()))
  return book
}

const newBook = (): Book => ({
  ...{ kept: new Set(), answered: new Map(), gone: new Set(), removing: 0 },
  ...{ removals: 0, added: new Map() },
  ...{ flags: [{ change: 0, value: 0 }], changes: 0 },
})

/** What one client does: mostly one use of a key somewhere, now and then something rarer. */
export const ledgerWorkload: Workload<Ledger, Ledger> = async (world) => {
  const { random } = world
  const worker = random.pick(world.workers)
  const key = random.pick(world.keys)
  const [, act] = acts.find(([share]) => random.chance(share)) ?? [1, add]
  await act(world, worker, key)
}

type Act = (world: World, worker: Worker, key: string) => Promise<void>

/** What is rarer than a use, each with the probability that it is done where those before it weren't. */
const acts: readonly (readonly [number, Act])[] = [
  [0.15, (world, worker, key) => hold(world, worker, key)],
  [0.05, (world, worker, key) => read(world, worker, key)],
  [0.02, (_world, worker, key) => worker.ask((manager, definition) => manager.checkpointSandbox(definition, key))],
  [0.02, (_world, worker, key) => worker.ask((manager, definition) => manager.whereIs(definition, key)).then(() => {})],
  [0.01, (_world, worker) => list(worker)],
  [0.015, (world, worker, key) => remove(world, worker, key)],
  [0.1, (world, worker, key) => giveUp(world, worker, key)],
  [0.1, (world, worker, key) => setFlag(world, worker, key, world.random.int(0, 1))],
]

/** Sets the flag, for good. */
export async function setFlag(world: World, worker: Worker, key: string, value: number): Promise<void> {
  const book = bookOf(world, key)
  const set = (state: Ledger, { lease }: HookContext): FlagChange => {
    if (lease.isHeld()) inspect(world, key, state)
    state.flag = value
    return changeFlag(book, value)
  }
  const { change } = await worker.use(set, { key, durable: true, contention: "retry" })
  if (book.removing === 0) book.flags = book.flags.filter((other) => other.change >= change)
}

/** Looks at a ledger again and again for so long by timers of its own, as often as its lease is held. */
export async function lookFor(world: World, worker: Worker, key: string, ms: number): Promise<void> {
  const look = async (state: Ledger, { lease }: HookContext): Promise<void> => {
    for (let left = ms; left > 0; left -= lookEvery) {
      if (lease.isHeld()) inspect(world, key, state)
      await worker.sleep(lookEvery)
    }
  }
  await worker.use(look, { key, contention: "retry" })
}

/** In milliseconds: well below the second within which a lock compares its clocks. */
const lookEvery = 25

/** Adds a row in one call. */
export async function add(world: World, worker: Worker, key: string): Promise<void> {
  const { random } = world
  const durable = random.chance(0.5)
  const row = ++booksOf(world).last
  const whenOwned = random.pick(["request", "request", "request", "wait", "report"] as const)
  const token = await worker.use(append(world, key, row), {
    ...{ key, durable, whenOwned },
    contention: whenOwned === "wait" ? "retry" : random.pick(["retry", "fail"]),
    ...(random.chance(0.1) && { timeout: random.pick([0, 1, 3000, 4500]) }),
  })
  acknowledged(world, key, row, durable ? undefined : token)
}

/** Asks for the key, and soon wants it no more; sometimes another call of the same process goes on wanting it. */
async function giveUp(world: World, worker: Worker, key: string): Promise<void> {
  const { random } = world
  const caller = new AbortController()
  void world.sleep(random.pick([1, 30, 60, 200, 1000, 3000])).then(() => caller.abort())
  const given = worker.restore({ key, signal: caller.signal, contention: random.pick(["retry", "fail"]) })
  const other = random.chance(0.3) ? add(world, worker, key) : undefined
  const [first] = await Promise.allSettled([given, other])
  if (first.status === "rejected") throw first.reason
}

/** Adds rows by a handle, and sees how that sandbox ends. */
async function hold(world: World, worker: Worker, key: string): Promise<void> {
  const { random } = world
  const sandbox = await worker.restore({ key, contention: "retry" })
  watch(world, key, sandbox)
  for (let rows = random.int(0, 3); rows > 0; rows--) {
    const row = ++booksOf(world).last
    acknowledged(world, key, row, await sandbox.use(append(world, key, row)))
  }
  if (random.chance(0.3)) {
    const before = [...(bookOf(world, key).answered.get(sandbox.lease.token) ?? [])]
    await sandbox.checkpoint()
    for (const row of before) acknowledged(world, key, row, undefined)
  }
  if (random.chance(0.2)) await sandbox.release()
}

function append(world: World, key: string, row: number) {
  return (state: Ledger, { token, lease }: HookContext): number => {
    if (lease.isHeld()) inspect(world, key, state) // a slow use goes on after its lease, on what was true then
    const { added, removals } = bookOf(world, key)
    added.set(row, removals)
    state.rows.push(row)
    if (world.random.chance(0.03)) state.padding = state.padding === "" ? "x".repeat(40_000) : ""
    return token
  }
}

/**
 * A row was answered: for good, or as long as the owner with that token leaves in peace. What was removed since it was added may
 * be this row: an answer can come long after its change was saved.
 */
function acknowledged(world: World, key: string, row: number, token: number | undefined): void {
  const { answered, kept, removing, removals, added } = bookOf(world, key)
  if (removing > 0 || added.get(row) !== removals) return
  if (token === undefined) return void kept.add(row)
  const rows = answered.get(token)
  if (rows === undefined) answered.set(token, [row])
  else rows.push(row)
}

/** Whether what it has answered is saved, by how it ended. A removal takes all of it with it. */
const savesAtEnd: Readonly<Record<SandboxEnding["reason"], boolean>> = {
  ...{ handoff: true, drain: true, idle: true, released: true },
  ...{ removed: false, lost: false, failed: false },
}

/** When it has left in peace, what it answered is saved. */
function watch(world: World, key: string, { lease, ended }: Sandbox<Ledger>): void {
  const { token } = lease
  void ended.then(({ reason }) => {
    const { answered } = bookOf(world, key)
    const rows = answered.get(token) ?? []
    answered.delete(token)
    if (savesAtEnd[reason]) for (const row of rows) acknowledged(world, key, row, undefined)
  })
}

/** What is read without a lease may be stale, but never torn. */
async function read(world: World, worker: Worker, key: string): Promise<void> {
  const saved = await worker.ask((manager, definition) => manager.readCheckpoint(definition, key))
  refuseTwice(world, key, saved?.rows ?? [], "what is saved")
}

async function list(worker: Worker): Promise<void> {
  await worker.ask(async (manager, definition) => {
    for await (const _ of manager.list(definition)) continue
  })
}

/** From its begin on nothing is known of what was there; after it succeeded, that all of that is gone. */
export async function remove(world: World, worker: Worker, key: string): Promise<void> {
  const book = bookOf(world, key)
  const { kept } = book
  book.kept = new Set()
  book.answered.clear()
  changeFlag(book, 0)
  book.removing++
  book.removals++
  try {
    await worker.remove({ key, contention: "retry" })
    for (const row of kept) book.gone.add(row)
    removalEnds(book)
  } catch (error) {
    void world.sleep(120_000).then(() => removalEnds(book))
    throw error
  }
}

/** It took effect at some time since it began. */
function removalEnds(book: Book): void {
  changeFlag(book, 0)
  book.removing--
  book.removals++
}

/** Fails the run where acknowledged rows are missing, removed ones are back, one stands twice, or the flag is wrong. */
function inspect(world: World, key: string, { rows, flag }: Ledger): void {
  const { kept, gone, flags } = bookOf(world, key)
  const found = new Set(rows)
  const lost = [...kept].filter((row) => !found.has(row))
  const back = [...gone].filter((row) => found.has(row))
  if (lost.length > 0) world.fail(`the owner of ${key} lacks acknowledged rows: ${lost.join(", ")}`)
  if (back.length > 0) world.fail(`the owner of ${key} has rows that were removed: ${back.join(", ")}`)
  if (!flags.some(({ value }) => value === flag))
    world.fail(
      `the owner of ${key} has the flag ${flag}, acknowledged as ${flags.map(({ value }) => value).join(" or ")}`,
    )
  refuseTwice(world, key, rows, "the owner's state")
}

function refuseTwice(world: World, key: string, rows: readonly number[], where: string): void {
  if (new Set(rows).size < rows.length) world.fail(`${where} of ${key} has a row twice: ${rows.join(", ")}`)
}

/**
 * When all is calm every worker gets every key, and finds what it has to: at the latest when a stranger's pair has stood still
 * for a minute, and then a former owner whose record was deleted by hand is waited out, both by a slow clock.
 */
export const ledgerAfterwards: Workload<Ledger, Ledger> = async (world) => {
  for (const key of world.keys) {
    for (const worker of world.workers) {
      const row = ++booksOf(world).last
      await worker.use(append(world, key, row), { key, durable: true, timeout: "2 min", contention: "retry" })
      acknowledged(world, key, row, undefined)
      await read(world, worker, key)
    }
  }
}
