/** What becomes of saved state, as the store tells it: the second promise. All of it needs `applied` lines. */
import { encodeName } from "../../locks/api/keys.ts"
import type { AppliedLine, TraceHead, TraceLine } from "../../trace/trace.ts"
import type { Found, Invariant, Watch } from "./reading/invariant.ts"

/** A head write that took effect. */
type HeadWrite = AppliedLine & { readonly head: TraceHead }

const isHeadWrite = (line: TraceLine): line is HeadWrite => line.kind === "applied" && line.head !== undefined

const isHead = ({ area, name }: AppliedLine): boolean => area === "state" && name.endsWith("/head")

const whose = (worker: string | null): readonly string[] => (worker === null ? [] : [worker])

/** Watches the heads of a trace, each write beside the one before. */
function headWatch(
  found: (violation: Found) => void,
  judge: (write: HeadWrite, before: HeadWrite | undefined) => string | undefined,
): Watch {
  const last = new Map<string, HeadWrite>()
  return {
    line(line) {
      if (!isHeadWrite(line)) return
      const message = judge(line, last.get(line.name))
      if (message !== undefined) found({ message, workers: whose(line.worker) })
      last.set(line.name, line)
    },
  }
}

/** Nothing is stored under a token that is over. */
export const noOldTokens: Invariant = {
  name: "no old tokens",
  sentence: "No head is written under a token lower than one it had, nor under an equal one by another activation.",
  watch: (found) =>
    headWatch(found, ({ head, name, worker }, before) => {
      if (before === undefined || worker === null || before.worker === null) return undefined
      const { token, nonce } = before.head
      if (head.token < token) return `${worker} writes ${name} under token ${head.token}, after ${token}`
      if (head.token === token && head.nonce !== nonce) return `two activations write ${name} under token ${token}`
      return undefined
    }),
}

/** Versions of saved state are numbered without a gap. */
export const noStepBack: Invariant = {
  name: "no step back",
  sentence: "The number of a head grows by one with each write, and no head is ever deleted.",
  watch(found) {
    const steps = headWatch(found, ({ head, name }, before) =>
      before === undefined || head.seq === before.head.seq + 1
        ? undefined
        : `${name} goes from number ${before.head.seq} to ${head.seq}`,
    )
    return {
      line(line) {
        steps.line(line)
        if (line.kind !== "applied" || line.op !== "remove" || line.worker === null || !isHead(line)) return
        found({ message: `${line.worker} deletes ${line.name}`, workers: [line.worker] })
      },
    }
  },
}

/** A change of owner changes nothing of what is saved. */
export const claimsKeepState: Invariant = {
  name: "claims keep state",
  sentence:
    "The first head that an owner writes without having restored holds what the head before held, or is a removal.",
  watch(found) {
    const restored = new Set<string>()
    const heads = headWatch(found, ({ head, name, worker }, before) => {
      if (before === undefined || worker === null || before.head.nonce === head.nonce) return undefined
      if (head.state === "removed" || restored.has(`${worker} ${name} ${head.token}`)) return undefined
      const isKept = before.head.state === "removed" ? head.state === "none" : before.head.sha256 === head.sha256
      return isKept ? undefined : `${worker} replaces what ${name} held before it has restored it`
    })
    return {
      line(line) {
        heads.line(line)
        if (line.kind === "work" && line.work === "restore" && line.edge === "began")
          restored.add(`${line.worker} ${encodeName(line.key)}/head ${line.token}`)
      },
    }
  },
}

/** Once the next owner has begun to restore, no former one's write lands any more. */
export const fencedBeforeRestore: Invariant = {
  name: "fenced before restore",
  sentence: "After a restore has begun under a token, no head is written under a lower one.",
  watch(found) {
    const restored = new Map<string, { readonly token: number; readonly worker: string }>()
    return {
      line(line) {
        if (line.kind === "work" && line.work === "restore" && line.edge === "began") {
          const name = `${encodeName(line.key)}/head`
          if (line.token > (restored.get(name)?.token ?? -1))
            restored.set(name, { token: line.token, worker: line.worker })
        } else if (isHeadWrite(line) && line.worker !== null) {
          const { token = -1, worker = "" } = restored.get(line.name) ?? {}
          if (line.head.token >= token) return
          const message = `${line.worker} saves under token ${line.head.token} after ${worker} restored under ${token}`
          found({ message, workers: [worker, line.worker] })
        }
      },
    }
  },
}
