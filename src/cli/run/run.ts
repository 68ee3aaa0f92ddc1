/**
 * `leasehold run <key>… -- <command>`: the command runs while the keys are owned, and no longer. It stands behind its gate
 * while the keys are waited for, and is let in once its process group is named in their records: from then on nobody on this
 * machine takes them over while the group lives, and a guardian sees to it that it ends with the lease.
 */
import { existsSync } from "node:fs"
import { constants } from "node:os"
import { InvalidConfigError, LockCancelledError, StoreMisconfiguredError } from "../../locks/api/errors.ts"
import type { AcquireOptions, Lease } from "../../locks/api/lock.ts"
import { thisProcess } from "../../locks/engine/incarnation.ts"
import { guardOf } from "../../locks/engine/options.ts"
import { nameGroups } from "../../locks/lock/name-groups.ts"
import { allOrNone, inOneOrder } from "../../locks/lock/several.ts"
import { StoreLock } from "../../locks/lock/store-lock.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { EXIT } from "../errors/exit-codes.ts"
import { UnknownEndError } from "../errors/unknown-end-error.ts"
import { UsageError, usageError } from "../errors/usage-error.ts"
import { moment } from "../frame/moments.ts"
import type { Action, Call, Ending } from "../frame/syntax.ts"
import { checkVariables } from "../process/bytes.ts"
import { cleared } from "../process/clearing.ts"
import { openSession } from "../stores/session.ts"
import { Hooks } from "./hook.ts"
import { LeaseFile } from "./lease-file.ts"
import { Messenger } from "./messenger.ts"
import { type Exit, GatedCommand } from "./process/gate.ts"
import { ProcessGroup } from "./process/group.ts"
import { Guardian } from "./process/guardian.ts"
import { callersOpenFiles } from "./process/open-files.ts"
import { passageOf } from "./process/passage.ts"
import { RunSignals } from "./process/signals.ts"
import { isInForeground } from "./process/terminal.ts"
import { type Outcome, Supervision } from "./supervise.ts"
import { UnfitCommandError, unfitness } from "./unfit-command.ts"
import { type Wish, wishOf } from "./wish.ts"

/** Not to be had by passing them on: their default also leaves a core, or runtimes ignore them (SIGPIPE). */
const NOT_PASSED: ReadonlySet<string> = new Set([
  "SIGPIPE",
  "SIGQUIT",
  "SIGILL",
  "SIGTRAP",
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGSEGV",
  "SIGSYS",
])

export const run: Action = async (call) => {
  if (call.io.platform === "win32") throw windows()
  checkVariables(call.io.env)
  const session = await openSession(call)
  const wish = wishOf(call, session.found)
  const { clock, stderr } = call.io
  // On a terminal the wait is drawn in place, and must be off it before the command draws.
  const messenger = new Messenger(clock)
  if (!stderr.isTTY) stderr.carriedBy?.(messenger)
  const keys = inOneOrder(call.operands)
  const locks = keys.map((key) => new StoreLock(key, { store: session.store, clock, ttl: wish.ttl }))
  const owner = thisProcess(session.store).id
  await refuseNested(locks, call.io.env)
  using here = new DisposableStack()
  const signals = (call.io.untilEnd ?? here).use(new RunSignals())
  using file = new LeaseFile()
  const env = {
    ...call.io.env,
    LEASEHOLD_KEY: keys.join("\n"),
    LEASEHOLD_OWNER: owner,
    LEASEHOLD_LEASE_FILE: file.path,
  }
  const foreground = isInForeground(call.io.platform)
  const stand = (): Stand =>
    new Stand(new GatedCommand(call.command!, env, foreground, callersOpenFiles()), file.folder, clock)
  // In front of a terminal it would be the gate that hears Ctrl-C.
  using early = foreground ? undefined : stand()
  const groups = early === undefined ? [] : [await early.gated.group]
  const asked: Asked = { by: [], tell: undefined }
  const leases = await hold({ call, locks, wish, asked, groups, signal: signals.cancelled }).catch(
    async (error: unknown) => {
      await cleared(session.store, clock)
      throw error instanceof InvalidConfigError && error.key !== "" ? usageError(error) : error // its ttl, by a flag
    },
  )
  stderr.carriedBy?.(messenger)
  const hooks = new Hooks(clock)
  try {
    const unfit = unfitOf(call)
    if (unfit !== undefined) return failed(call, unfit)
    using late = early === undefined ? stand() : undefined
    const { gated, guardian } = (early ?? late)!
    const outcome = await work({ call, wish, leases, owner, env, file, hooks, asked, gated, guardian, signals })
    return endingOf(call, outcome)
  } finally {
    signals.passTo(() => {}) // the release ends within 10 s
    await Promise.all([hooks.end(), release(call, guardOf(wish.ttl, session.store.capabilities), leases)])
  }
}

/** Frees the keys, and says of each that may stay owned until when it may. `guard`: how much later than here, in ms. */
async function release({ output, io: { clock } }: Call, guard: number, leases: readonly Lease[]): Promise<void> {
  const freed = async (lease: Lease): Promise<void> => {
    if ((await lease.release()) !== "unknown") return
    const until = lease.deadline + guard
    const when = moment(until, clock.read().wall)
    const message = `the release of ${JSON.stringify(lease.key)} is not known to have reached the store: others may have to wait until ${when}`
    output.note("unreleased", message, { key: lease.key, until: Math.round(until) })
  }
  await Promise.all(leases.toReversed().map(freed))
}

/**
 * A run within a command that is run under the same key would wait for itself. It is the same key of the same store where the
 * record names the owner that the environment does, and the outer run is at work for as long as its lease file is there.
 */
async function refuseNested(locks: readonly StoreLock[], env: Call["io"]["env"]): Promise<void> {
  const { LEASEHOLD_OWNER: outer, LEASEHOLD_LEASE_FILE: file } = env
  if (outer === undefined || file === undefined || !existsSync(file)) return
  for (const lock of locks) {
    const owner = await lock.peek().catch(() => undefined) // the wait says what is wrong with the store
    if (owner?.ownerId !== outer) continue
    throw new UsageError(
      `The key ${JSON.stringify(lock.key)} is owned by the run that this one is a part of`,
      "Leave this run out, since its command is under the key already, or name another key",
    )
  }
}

/** The command, not let in yet, and who will see to its end. A shell each, which nobody is to wait for once the key is there. */
class Stand implements Disposable {
  readonly gated: GatedCommand
  readonly guardian: Guardian

  constructor(gated: GatedCommand, folder: string, clock: Clock) {
    this.gated = gated
    this.guardian = new Guardian(gated.group, folder, clock)
  }

  [Symbol.dispose](): void {
    this.gated.abandon()
    this.guardian.dismiss()
  }
}

/** Who asked for a key before there was anybody to tell, and whom to tell since. */
interface Asked {
  by: string[]
  tell: ((waiterId: string) => void) | undefined
}

interface Wanted {
  readonly call: Call
  readonly locks: readonly StoreLock[]
  readonly wish: Wish
  readonly asked: Asked
  /** The command's process group, where it stands already: the very write that takes a key names it. */
  readonly groups: readonly number[]
  readonly signal: AbortSignal
}

function hold({ call, locks, wish, asked, groups, signal }: Wanted): Promise<readonly Lease[]> {
  for (const lock of locks) {
    lock.events$.subscribe((event) => {
      if (event.type !== "ReleaseRequested") return
      if (asked.tell === undefined) asked.by.push(event.waiterId)
      else asked.tell(event.waiterId)
    })
  }
  const options: AcquireOptions = {
    ...wish.budget,
    signal,
    observer: call.output.waits(),
    whenOwned: wish.asks ? "request" : "wait",
    contention: wish.queues ? "retry" : "fail",
  }
  return allOrNone(locks, (lock, from) => lock.acquireSince(from, options, groups), call.io.clock)
}

interface Job extends Pick<Stand, "gated" | "guardian"> {
  readonly call: Call
  readonly wish: Wish
  readonly leases: readonly Lease[]
  readonly owner: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly file: LeaseFile
  readonly hooks: Hooks
  readonly asked: Asked
  readonly signals: RunSignals
}

async function work(job: Job): Promise<Outcome> {
  const { call, wish, leases, owner, env, file, hooks, gated, guardian, asked, signals } = job
  const group = new ProcessGroup(await gated.group)
  if (signals.cancelled.aborted) throw cancelled(leases)
  signals.passTo((signal) => void group.signal(signal))
  const note = (event: string, message: string): void => call.output.note(event, message)
  const { clock } = call.io
  const { ended } = gated
  using supervision = new Supervision({ leases, group, ended, guardian, file, hooks, owner, env, wish, clock, note })
  const finished = supervision.finish()
  try {
    await Promise.all([guardian.ready, ...leases.map((lease) => nameGroups(lease, [group.id]))])
    gated.open(
      Math.floor(supervision.deadline / 1000),
      leases.map(({ token }) => token),
    )
    asked.tell = (waiterId) => supervision.requested(waiterId)
    for (const waiterId of asked.by) supervision.requested(waiterId)
  } catch {
    gated.abandon() // the lease was lost first, which the supervision knows
  }
  return await finished
}

function cancelled([first]: readonly Lease[]): LockCancelledError {
  return new LockCancelledError({
    key: first!.key,
    message: "The run was cancelled by a signal",
    next: "Nothing was run, and nothing is held",
  })
}

function endingOf({ output }: Call, { exit, lost }: Outcome): Ending {
  if (lost === undefined && !("unknown" in exit)) return passedOn(exit)
  const [error, code] = lost === undefined ? [new UnknownEndError(), EXIT.unknownEnd] : [lost, EXIT.leaseLost]
  output.failure(error, code)
  return code
}

function unfitOf({ command, io: { env } }: Call): UnfitCommandError | undefined {
  const [name = ""] = command!
  if (name.includes("=") && passageOf(env).isByEnv) return UnfitCommandError.likeAssignment(name)
  return unfitness(name, env["PATH"])
}

function failed({ output }: Call, error: UnfitCommandError): Ending {
  output.failure(error, error.exitCode)
  return error.exitCode
}

function passedOn(exit: Exclude<Exit, { unknown: true }>): Ending {
  if ("code" in exit) return exit.code
  return NOT_PASSED.has(exit.signal) ? 128 + constants.signals[exit.signal] : exit.signal
}

function windows(): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: "leasehold run doesn't run on Windows, which has no process groups to end a command by",
    next: "Use it on Linux, macOS or WSL; every other command works with --store gs://BUCKET",
  })
}
