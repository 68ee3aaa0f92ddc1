/**
 * The rooms of the house: each folder of src, from the ground up, with what it owns. A file imports from its own room
 * and from rooms before it, never from one after it (rules.ts). Whoever adds a folder says here where it stands.
 */
export const rooms: Readonly<Record<string, string>> = {
  "src/runtime": "What the floors above need of the machine and the language; knows nothing of leases.",
  "src/runtime/input": "Checks of options: durations, numbers, budgets, unknown names.",
  "src/runtime/time": "The clock, the one schedule of timers, chance, hashes; the same in virtual time.",
  "src/runtime/bridges": "Effect, RxJS and XState on the project's one clock.",
  "src/runtime/machine": "Processes, process groups, signals, file watches of this machine; the end of servers.",

  "src/draw/machine": "A machine as a graph, and which of its transitions were taken.",
  "src/draw/text": "Widths, columns and what can't be seen in a text.",
  "src/draw/svg": "Layout by elkjs, shapes and style of the SVG.",
  "src/draw": "`leasehold/draw`: any XState machine as SVG, Mermaid and text.",

  "src/locks/api": "What users of locks see: interfaces, errors, keys, events of a wait.",
  "src/locks": "Leases on one key: the record's format, and what prints texts of others safely.",
  "src/locks/stores": "The port to a store, its start and probe, the store in memory.",
  "src/locks/protocol/rules": "What the protocol decides by: time, authority, expiry, standing, the line.",
  "src/locks/protocol": "The lease protocol as one pure function: acquire, own, leave, clean up.",
  "src/locks/admission": "Which request may go to a store next, and how many at once.",
  "src/locks/engine/key": "The parts of one key's runtime: its callers, events, counts, rings, alarm.",
  "src/locks/engine": "One runtime for each key: runs the protocol's commands, arms its timer, publishes its events.",
  "src/locks/stores/file/disk":
    "File operations, their budgets and failures; one algorithm as steps for two ways to run it.",
  "src/locks/stores/file/objects":
    "Versions of an object in a directory: compare-and-swap by hard links, lists, cleaning.",
  "src/locks/stores/gcs/http": "HTTP: proxy, limits, multipart bodies, dates.",
  "src/locks/stores/gcs/connection": "Endpoint, credentials, and what an answer of the bucket means.",
  "src/locks/waits": "Budgets of a wait and what an observer is told of it; terminal and log observers.",
  "src/locks/lock": "`Lock` and `Lease` over a store, the queue within a process, several keys at once.",
  "src/locks/providers": "`LockProvider`: sections of code under a lock in memory, on a store, or under none.",
  "src/locks/stores/file":
    "`leasehold/file`: the store in a directory, its time, and what the machine knows of processes.",
  "src/locks/stores/gcs": "`leasehold/gcs`: the store on Google Cloud Storage.",

  "src/trace": "The lines of a trace: their kinds, their text, and how traces merge.",
  "src/trace/live": "The trace of a live worker: bounded, redacted, to a file or a function.",

  "src/actors/chart": "The state chart of a sandbox, as an XState machine without effects.",
  "src/actors/checkpoints/objects": "Names of saved objects, and tries until a budget is over.",
  "src/actors/checkpoints/head":
    "The head of a sandbox: its format, and the protocol of its writes as one pure function.",
  "src/actors/checkpoints/content": "From a value to bytes and back; the objects of large states, and their deletion.",
  "src/actors/calls/memory": "What a sandbox remembers of durable calls: the law, and its bytes.",
  "src/actors/api": "What users of sandboxes see: definitions, handles, errors.",
  "src/actors/checkpoints": "Saved state: claims, commits, reads and lists.",
  "src/actors/sandbox/work": "Hooks with limits, turns, group commits, idle timers.",
  "src/actors/sandbox": "One sandbox: its chart's actor, its activation, its uses and its end.",
  "src/actors/registry": "The manager's settings, and its sandboxes: one runtime for each key.",
  "src/actors/calls": "A call: its way to its sandbox, its checks, its turn, its answer.",
  "src/actors/inside": "What the inspector sees of a manager.",
  "src/actors/manager": "`SandboxManager`: calls, drain, numbers, reads without a lease.",

  "src/web": "Fetch handlers on `node:http`; the secret of a fleet; addresses of workers.",
  "src/http": "`leasehold/http`: calls between workers, signed; a worker's health.",

  "src/client": "`leasehold/client`: calls from a process that is no worker, a browser too.",

  "src/inspector/live": "The live page's server side; its drawing of the sandbox chart.",
  "src/inspector/live/model": "A fleet as rows, kept by messages; also runs in the browser.",
  "src/inspector/live/stream": "Server-sent events of a fleet to each client.",
  "src/inspector/live/workers": "The worker of this process and its peers, with signed requests.",
  "src/inspector/live/server": "HTTP: who may ask for what, and the page.",
  "src/inspector/page/look": "Numbers, words, icons and colours.",
  "src/inspector/page/feed": "Messages from a worker or from a recorded trace.",
  "src/inspector/page/model": "What the page knows: now, and as far back as there is room.",
  "src/inspector/page/frame": "Around every screen: addresses, keys, theme, time bar, help.",
  "src/inspector/page/fleet": "The screen of all sandboxes: cards, heat map, list, side panels.",
  "src/inspector/page/sandbox": "The screen of one sandbox: chart, lease, record, actions.",
  "src/inspector/page/sequence": "The screen of one key's requests and handoffs.",
  "src/inspector/page/timeline": "The screen of all keys over time.",
  "src/inspector/page": "The page itself; runs in a browser and is bundled by `npm run page`.",
  "src/inspector": "`leasehold/inspector`: recorders of traces, and a trace as a page.",

  "src/testing/check/world": "Such a world: processes, stores, moments, and the laws that it must keep.",
  "src/testing/check/moves": "What may happen in such a world: to a process, by an operator, by a stranger.",
  "src/testing/check": "The exhaustive search through all worlds of a few processes.",
  "src/testing/conformance": "The suite that every store passes.",
  "src/testing/invariants/reading": "What several invariants read out of a trace.",
  "src/testing/invariants": "What must hold of every trace.",
  "src/testing/simulated-store": "A store with latency, losses, strangers and operators.",
  "src/testing/simulate/machines": "Simulated machines and processes, and traps for real time and chance.",
  "src/testing/simulate/plan": "Which faults come when; scripts, and how a failure is made smaller.",
  "src/testing/simulate/report": "How much a simulation has come to.",
  "src/testing/simulate/run": "One run: its fleet, its stores, its ledger of what was acknowledged.",
  "src/testing/simulate": "Fleets on virtual time under faults drawn from a seed.",
  "src/testing/test-worker": "One sandbox under test, on a clock that the test moves.",
  "src/testing": "`leasehold/testing`: a lock and a world for tests of code that uses leasehold.",

  "src/cli/errors": "Exit codes, the command's own errors, and advice in terms of flags.",
  "src/cli/process": "What the command needs of its process: bytes, folders of a user, who may write a file.",
  "src/cli/frame": "Arguments, help and output that all commands share.",
  "src/cli/stores": "Stores by name: configuration, one session, records as an operator sees them.",
  "src/cli/commands/chart": "`leasehold chart`: draws the machine of a module.",
  "src/cli/commands/doctor": "`leasehold doctor`: what is wrong with a store or a clock.",
  "src/cli/commands/top": "`leasehold top`: a fleet in a terminal.",
  "src/cli/commands": "Its small commands, one file each: ls, status, request, unlock, open, completions.",
  "src/cli/run/process": "The processes of a run: gate, guardian, terminal, signals.",
  "src/cli/run": "`leasehold run`: a command under leases, its lease file and its hook.",
  "src/cli": "The command `leasehold`.",

  src: "The entry `leasehold`.",
}

/** The floors of the house, from the ground up: the folders right below src. */
export const floors: readonly string[] = Array.from(
  new Set(Object.keys(rooms).flatMap((room) => room.split("/").slice(1, 2))),
)
