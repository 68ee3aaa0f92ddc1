/**
 * `leasehold run <key>… -- <command>`: the command runs while the keys are owned, and no longer. It stands behind its
 * gate while the keys are waited for. It is let in once its process group is named in their records. From then on no
 * process of this machine takes them over while the group lives, and a guardian ends the group with the lease.
 *
 * Owns the order of the steps, and of what is given back. What a step does stands in the files beside this one.
 */
import { LockCancelledError, StoreMisconfiguredError } from "../../locks/api/errors.ts"
import type { Lease } from "../../locks/api/lock.ts"
import { nameGroups } from "../../locks/lock/name-groups.ts"
import type { Call, CommandAction } from "../frame/syntax.ts"
import { checkVariables, type Environment } from "../process/bytes.ts"
import { openSession } from "../stores/session.ts"
import { endingOf, unfitEnding } from "./ending.ts"
import { Hooks } from "./hook.ts"
import { RunKeys } from "./keys.ts"
import { LeaseFile } from "./lease-file.ts"
import { Messenger } from "./messenger.ts"
import { ProcessGroup } from "./process/group.ts"
import { GuardedCommand } from "./process/guarded-command.ts"
import { passageOf } from "./process/passage.ts"
import { RunSignals } from "./process/signals.ts"
import { isInForeground } from "./process/terminal.ts"
import { ReleaseRequests } from "./release-requests.ts"
import { type RunSettings, runSettings } from "./settings.ts"
import { type RunOutcome, Supervision } from "./supervise.ts"
import { UnfitCommandError, unfitness } from "./unfit-command.ts"

export const run: CommandAction = async (call) => {
  const { env, platform, clock, stderr, untilEnd } = call.io

  // 1. Check what was asked for. Nothing is begun yet.
  refuseWindows(platform)
  checkVariables(env)
  const { store, found } = await openSession(call)
  const settings = runSettings(call, found)

  // 2. Write by a messenger from here on. On a terminal the wait is drawn in place, so there it begins with the
  //    command.
  const messenger = new Messenger(clock)
  if (!stderr.isTTY) stderr.carriedBy?.(messenger)

  // 3. Make the locks.
  const keys = new RunKeys(call, store, settings)
  await keys.refuseNested()

  // 4. Catch the signals, and make the lease file. What `cleanup` holds is given back in reverse order, after all else.
  using cleanup = new DisposableStack()
  const signals = (untilEnd ?? cleanup).use(new RunSignals())
  const file = cleanup.use(new LeaseFile())
  const commandEnv = environmentOf(env, keys, file)

  // 5. Stand the command behind its gate. In front of a terminal that waits for step 7: the gate would get Ctrl-C.
  const foreground = isInForeground(platform)
  const { folder } = file
  const stand = (): GuardedCommand =>
    new GuardedCommand({ command: call.command!, env: commandEnv, foreground, folder, clock })
  const early = foreground ? undefined : cleanup.use(stand())
  const groups = early === undefined ? [] : [await early.gated.group]

  // 6. Acquire the keys.
  const requests = new ReleaseRequests()
  const leases = await keys.acquire({ groups, requests, signal: signals.cancelled })
  stderr.carriedBy?.(messenger)

  const hooks = new Hooks(clock)
  try {
    // 7. Look whether the command can be run at all, and stand it now where it doesn't stand yet.
    const unfit = unfitOf(call)
    if (unfit !== undefined) return unfitEnding(call, unfit)
    using late = early === undefined ? stand() : undefined
    const command = (early ?? late)!

    // 8. Let it in, and supervise it until its process group has ended.
    const job = { call, settings, leases, owner: keys.owner, env: commandEnv, file, hooks, requests, signals, command }
    return endingOf(call, await superviseWork(job))
  } finally {
    // 9. End the hooks and release the keys, which takes 10 s at most: signals do nothing meanwhile.
    signals.passTo(() => {})
    await Promise.all([hooks.end(), keys.release(leases)])
  }
}

/** Step 1. */
function refuseWindows(platform: string): void {
  if (platform !== "win32") return
  throw new StoreMisconfiguredError({
    message: "leasehold run doesn't run on Windows, which has no process groups to end a command by",
    next: "Use it on Linux, macOS or WSL; every other command works with --store gs://BUCKET",
  })
}

/** Step 4: the command's environment, but for the tokens and the deadline, which its gate is told in step 8. */
const environmentOf = (env: Environment, keys: RunKeys, file: LeaseFile): Environment => ({
  ...env,
  LEASEHOLD_KEY: keys.names.join("\n"),
  LEASEHOLD_OWNER: keys.owner,
  LEASEHOLD_LEASE_FILE: file.path,
})

/** Step 7. */
function unfitOf({ command, io: { env } }: Call): UnfitCommandError | undefined {
  const [name = ""] = command!
  if (name.includes("=") && passageOf(env).isByEnv) return UnfitCommandError.likeAssignment(name)
  return unfitness(name, env["PATH"])
}

interface RunJob {
  readonly call: Call
  readonly settings: RunSettings
  readonly leases: readonly Lease[]
  readonly owner: string
  readonly env: Environment
  readonly file: LeaseFile
  readonly hooks: Hooks
  readonly requests: ReleaseRequests
  readonly signals: RunSignals
  readonly command: GuardedCommand
}

/** Step 8. Rejects with LockCancelledError where a signal came before the command was let in. */
async function superviseWork(job: RunJob): Promise<RunOutcome> {
  const { call, settings, leases, owner, env, file, hooks, requests, signals } = job
  const { gated, guardian } = job.command
  const { clock } = call.io
  const group = new ProcessGroup(await gated.group)
  if (signals.cancelled.aborted) throw cancelled(leases)
  signals.passTo((signal) => void group.signal(signal))
  const note = (event: string, message: string): void => call.output.note(event, message)
  const work = { leases, group, ended: gated.ended, guardian, file, hooks, owner, env, settings, clock, note }
  using supervision = new Supervision(work)
  const finished = supervision.finish()
  try {
    await Promise.all([guardian.ready, ...leases.map((lease) => nameGroups(lease, [group.id]))])
    const tokens = leases.map(({ token }) => token)
    gated.open(Math.floor(supervision.deadline / 1000), tokens)
    requests.answerBy((waiterId) => supervision.requested(waiterId))
  } catch {
    gated.abandon() // a lease was lost first, which the supervision knows
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
