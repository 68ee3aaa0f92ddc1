/** Mutants of the lease: what answers mean, who is who, waiting, and leaving (rules 1, 2 and 7 to 13). */
import type { Mutant } from "./mutant.ts"

export const leaseMutants: readonly Mutant[] = [
  {
    name: "412 is lost",
    edits: [
      {
        file: "src/locks/protocol/reducer.ts",
        find: "  const untimed = draft.config.clock",
        replace:
          '  if (answer.kind === "refused" && phase.name === "owning" && draft.view !== undefined)\n' +
          "    return owning.saw(draft, phase, { ...draft.view, record: undefined }, undefined)\n" +
          "  const untimed = draft.config.clock",
      },
    ],
    hunts: [{ by: "checker", config: "calm" }],
  },
  {
    name: "one opId for both sides",
    edits: [
      {
        file: "src/locks/protocol/request.ts",
        find: "{ opId: now.fresh, at }",
        replace: "{ opId: config.id, at }",
      },
    ],
    hunts: [{ by: "checker", config: "calm" }],
  },
  {
    name: "answers to requests that were given up on are believed",
    edits: [
      {
        file: "src/locks/protocol/reducer.ts",
        find: "if (flight?.id !== input.id) return phase\n",
        replace: "if (flight === undefined || input.id > flight.id) return phase\n",
      },
      {
        file: "src/locks/engine/key-requests.ts",
        find: "    flight?.fiber?.interruptUnsafe()\n",
        replace: "",
      },
    ],
    hunts: [
      { by: "sim", from: 11, to: 11, faults: ["slow", "late", "pause"], store: "exact", ttl: "6 s" },
      { by: "sim", from: 1, to: 60, faults: ["slow"], store: "gcs", ttl: "6 s" },
    ],
  },
  {
    name: "grant by owner id instead of nonce",
    edits: [
      {
        file: "src/locks/protocol/rules/standing.ts",
        find: 'if (record.owner.nonce === nonce) return "mine"',
        replace: 'if (nonce !== "") return "mine"',
      },
    ],
    hunts: [{ by: "checker", config: "alone" }],
  },
  {
    name: "another life's half taken for an ended attempt's",
    edits: [
      {
        file: "src/locks/protocol/rules/standing.ts",
        find: "nonce.startsWith(`${config.life}.`)",
        replace: 'nonce.startsWith(config.life === "" ? nonce : "")',
      },
    ],
    hunts: [{ by: "checker", config: "twins" }],
  },
  {
    name: "a pair under my id taken for mine, whoever stood there",
    edits: [
      {
        file: "src/locks/protocol/rules/standing.ts",
        find: 'return me.named ? "stripped" : "other"',
        replace: 'return me.config.id === "" ? "other" : "stripped"',
      },
    ],
    hunts: [{ by: "checker", config: "twins beside strangers" }],
  },
  {
    name: "a stranger's half believed",
    edits: [
      {
        file: "src/locks/record.ts",
        find: 'return isObject(half) && half["for"] === id && half["expiresAt"] === expiresAt',
        replace: 'return isObject(half) && id !== "" && expiresAt !== ""',
      },
    ],
    hunts: [
      {
        by: "search",
        options: { strangers: 1, pauses: 1, together: 2, until: "15 s" },
        limit: 20_000,
      },
    ],
  },
  {
    name: "a waiter's write extends the owner's expiry",
    edits: [
      {
        file: "src/locks/protocol/record-writes.ts",
        find: "const body = { ...record.body, waitingOwnerId: id, waiterExpiresAt: expiresAt, waiter }",
        replace:
          "const later = Math.max(expiresAt, record.expiresAt / 1000)\n" +
          "  const owner = record.owner && { ...(record.body.owner as object), expiresAt: later }\n" +
          "  const longer = { ...record.body, expiresAt: later, owner: owner ?? null }\n" +
          "  const body = { ...longer, waitingOwnerId: id, waiterExpiresAt: expiresAt, waiter }",
      },
    ],
    hunts: [{ by: "checker", config: "calm" }],
  },
  {
    name: "a waiter's write hides the owner's expiry",
    edits: [
      {
        file: "src/locks/protocol/record-writes.ts",
        find: "const body = { ...record.body, waitingOwnerId: id, waiterExpiresAt: expiresAt, waiter }",
        replace:
          "const body = { ...record.body, expiresAt: 0, waitingOwnerId: id, waiterExpiresAt: expiresAt, waiter }",
      },
    ],
    hunts: [{ by: "checker", config: "calm" }],
  },
  {
    name: "a cancel that ends before its mark is resolved",
    edits: [
      {
        file: "src/locks/protocol/cleanup.ts",
        find: "if (mayLand(draft)) return next",
        replace: "if (mayLand(draft) && draft.now.draw > 1) return next",
      },
    ],
    hunts: [{ by: "checker", config: "together" }],
  },
  {
    name: "acting again after a grant was sent",
    edits: [
      {
        file: "src/locks/protocol/leave.ts",
        find: '    case "mine":\n    case "stripped": {\n',
        replace: '    case "mine":\n      return { name: "owning", hold: phase.hold }\n' + '    case "stripped": {\n',
      },
    ],
    hunts: [{ by: "checker", config: "pairs" }],
  },
  {
    name: "release without precondition",
    edits: [
      {
        file: "src/testing/check/world/stores.ts",
        find: 'if (command.expected !== generation) return [world, { kind: "refused", ...stamp }]',
        replace:
          'const isRelease = command.type === "put" && /"ownerId":null.*"how":"release"/.test(command.body)\n' +
          '  if (command.expected !== generation && !isRelease) return [world, { kind: "refused", ...stamp }]',
      },
    ],
    hunts: [{ by: "checker", config: "pairs" }],
  },
  {
    name: "release whoever owns the key by now",
    edits: [
      {
        file: "src/locks/protocol/leave.ts",
        find: '    case "free":\n    case "dead":\n    case "twin":\n    case "other":\n      return finish(draft, phase, fate(phase))',
        replace:
          '    case "other":\n      return { ...phase, next: leaveNow(draft) }\n' +
          '    case "free":\n    case "dead":\n    case "twin":\n      return finish(draft, phase, fate(phase))',
      },
    ],
    hunts: [{ by: "search", options: { losses: 1, pauses: 1, together: 2, until: "8 s" }, limit: 60_000 }],
  },
  {
    name: "renewal that stops in handingOff",
    edits: [
      {
        file: "src/locks/protocol/own.ts",
        find: "if (hold.expiring) return undefined\n",
        replace: "if (hold.expiring || hold.signalled.length > 0) return undefined\n",
      },
    ],
    hunts: [{ by: "checker", config: "calm" }],
  },
  {
    name: "a waiter is asked for again at every look",
    edits: [
      {
        file: "src/locks/protocol/own.ts",
        find: "const signalled = [...hold.signalled, waiter.name].slice(-REMEMBERED_WAITERS)",
        replace: "const signalled = [waiter.name].slice(REMEMBERED_WAITERS)",
      },
    ],
    hunts: [{ by: "checker", config: "calm" }],
  },
  {
    name: "a token from the record alone, which a deletion sets back",
    edits: [
      {
        file: "src/locks/protocol/record-writes.ts",
        find: "isToken(stale) ? stale + 1 : 0, Math.floor(pen.at))",
        replace: "isToken(stale) ? stale + 1 : 0, Math.floor(pen.at / 1e15))",
      },
    ],
    hunts: [{ by: "checker", config: "deleted" }],
  },
  {
    name: "a token that doesn't grow at a change of owner",
    edits: [
      {
        file: "src/locks/protocol/record-writes.ts",
        find: "return Math.max(draft.topToken + 1, isToken(stale) ? stale + 1 : 0",
        replace: "return Math.max(draft.topToken, isToken(stale) ? stale : 0",
      },
    ],
    hunts: [{ by: "checker", config: "pairs" }],
  },
  {
    name: "waiters that write as early as owners",
    edits: [
      {
        file: "src/locks/protocol/request.ts",
        find: "return afterLastWrite(draft, instant(now), after * config.spacing)",
        replace: "return afterLastWrite(draft, instant(now), (after > 0 ? 1 : 0) * config.spacing)",
      },
    ],
    // Where an object takes one write a second an owner whom nothing befalls must come to its renewals.
    hunts: [{ by: "sim", from: 1, to: 100, store: "gcs", faults: [], ttl: "6 s" }],
  },
]
