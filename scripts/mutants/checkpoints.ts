/** Mutants of the head: claiming, committing, and what is deleted when (rules 15 to 17). */
import type { Mutant } from "./mutant.ts"

export const checkpointMutants: readonly Mutant[] = [
  {
    name: "restore without claim",
    edits: [
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: 'job.task.kind === "claim" && isLeft(state))',
        replace: 'job.task.kind === "claim" && (isLeft(state) || state.base!.head !== null))',
      },
    ],
    hunts: [{ by: "checker", config: "together" }],
  },
  {
    name: "claim skipped while the granter's last head write is unresolved",
    edits: [
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: 'return phase === "owner" && unresolved === null && job === null ? base!.generation : undefined',
        replace: 'return phase === "owner" && (unresolved === null || job === null) ? base!.generation : undefined',
      },
    ],
    hunts: [{ by: "checker", config: "unresolved" }],
  },
  {
    name: "no head is waited out",
    edits: [
      {
        file: "src/actors/checkpoints/head/writes.ts",
        find: "past.includes(found.nonce) ? 0 : found.ttlMs",
        replace: "past.includes(found.nonce) ? 0 : 0",
      },
    ],
    hunts: [{ by: "checker", config: "deleted before a claim" }],
  },
  {
    name: "whoever is waited for is forgotten when the one that waits is over",
    edits: [
      {
        file: "src/actors/checkpoints/head/writes.ts",
        find: "return Math.max(found.waitOutMs, past",
        replace: "return Math.max(0, past",
      },
    ],
    hunts: [{ by: "checker", config: "deleted under a longer ttl" }],
  },
  {
    name: "the wait ends by time alone, without a renewal after it",
    edits: [
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: 'return waiting.next === "renewal" ? waitOut(state, job, now)',
        replace:
          'return waiting.next === "renewal" ? waitOut({ ...state, waitOutMs: state.waitOutUntil === null ? state.waitOutMs : 0 }, job, now)',
      },
    ],
    hunts: [{ by: "checker", config: "brought back under another" }],
  },
  {
    name: "the head that counts is the first one met",
    edits: [
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: "const lastWriteAt = state.base === null ? state.lastWriteAt : now.at",
        replace:
          "const lastWriteAt = state.base === null ? state.lastWriteAt : now.at\n    const first = seen.head === null || state.settings.past.includes(seen.head.nonce) ? 0 : seen.head.ttlMs",
      },
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: "return decide({ ...state, base: seen, unresolved: null, lastWriteAt }",
        replace:
          "return decide({ ...state, waitOutMs: state.base === null ? first : state.waitOutMs, base: seen, unresolved: null, lastWriteAt }",
      },
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: 'phase: "owner", waitOutMs: head.waitOutMs }',
        replace: 'phase: "owner", waitOutMs: state.waitOutMs }',
      },
    ],
    hunts: [{ by: "checker", config: "deleted before a claim" }],
  },
  {
    name: "what has ended is not handed on",
    edits: [
      {
        file: "src/locks/protocol/record-writes.ts",
        find: "const past = record?.past ?? NONE",
        replace: "const past: readonly string[] = []",
      },
    ],
    hunts: [{ by: "checker", config: "granted" }],
  },
  {
    name: "checkpoint without token",
    edits: [
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: 'if (job.task.kind === "claim" || seen.head === null) {',
        replace: 'if (job.task.kind === "claim" || seen.head?.nonce !== "") {',
      },
    ],
    hunts: [{ by: "checker", config: "deleted under a head" }],
  },
  {
    name: "a claim under a token that isn't greater",
    edits: [
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: "return head !== null && head.token >= state.token ? raise",
        replace: "return head !== null && head.token > Infinity ? raise",
      },
    ],
    hunts: [{ by: "checker", config: "deleted under a head" }],
  },
  {
    name: "retry with a new opId",
    edits: [
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: "const head = job.write ?? build(state, job.task, now)",
        replace: "const head = build(state, job.task, now)",
      },
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: "const opIds = sent.includes(head.opId) ? sent : [...sent, head.opId]",
        replace: "const opIds = sent.includes(head.opId) ? sent : [head.opId]",
      },
    ],
    hunts: [{ by: "checker", config: "spaced" }],
  },
  {
    name: "a commit whose answer is lost counts as stored",
    edits: [
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: "      return readBack({ ...state, lastWriteAt: now.at }, job, now)",
        replace:
          "      if (job.task.kind === 'commit') return end({ ...state, lastWriteAt: now.at }, done(state))\n" +
          "      return readBack({ ...state, lastWriteAt: now.at }, job, now)",
      },
    ],
    hunts: [{ by: "checker", config: "together" }],
  },
  {
    name: "content collected before its successor is acknowledged",
    edits: [
      {
        file: "src/actors/checkpoints/writer.ts",
        find: "    const outcome = await headWriter.perform(task, write.until)\n",
        replace:
          '    if (task.kind === "commit" && headWriter.state.base?.head)\n' +
          "      this.#garbage.superseded({ ...headWriter.state.base.head, saved: task.saved, kept: [] })\n" +
          "    const outcome = await headWriter.perform(task, write.until)\n",
      },
    ],
    hunts: [
      { by: "sim", from: 32, to: 32, faults: ["crash", "loseRequest", "drain"], ttl: "6 s", store: "exact" },
      { by: "sim", from: 1, to: 200, faults: ["crash", "loseRequest", "drain"], ttl: "6 s", store: "exact" },
    ],
  },
]
