/** All commands, as data. The code of each is loaded when it is called. */
import { type CommandSpec, STORE_OPTIONS } from "./frame/syntax.ts"

/** A sentence of the help of commands that only read. */
const READS =
  "The store is only read, which takes no right to write. A directory in which no lock was ever kept is refused."

const run: CommandSpec = {
  name: "run",
  summary: "run a command while holding a lease on a key",
  usage: "run [options] <key>… -- <command> [arguments]",
  operands: [1, 100],
  runs: true,
  options: {
    ...STORE_OPTIONS,
    "lock-timeout": {
      value: "TIME",
      summary:
        "Wait so long for the keys: seconds, 30s, 5min, 0 for one try, infinite (default: LEASEHOLD_LOCK_TIMEOUT, the configuration, the scope, 600)",
    },
    scope: { value: "NAME", summary: "What the wait is for: install, cache, uninstall, or one of the configuration" },
    ttl: { value: "TIME", summary: "How long the lease lasts without renewal (default: 30s)" },
    ask: { summary: "Ask the owner to leave instead of waiting until it does" },
    "on-request": {
      value: "HOW",
      values: ["term", "ignore", "exec:"],
      summary: "When another asks for a key: term (default) ends the command, ignore, or exec:CMD runs CMD in a shell",
    },
    grace: { value: "TIME", summary: "From SIGTERM to SIGKILL when another asks (default: 10s)" },
    "exit-code": {
      value: "N",
      short: "E",
      summary: "Exit with N, 0 to 255, on a timeout or contention (default: 75 and 76)",
    },
    "no-queue": { summary: "Fail (exit 76) where another process asks for a key already; with --ask" },
  },
  about: [
    "The command starts once all keys are owned, in a process group of its own that the record names. It gets LEASEHOLD_KEY, LEASEHOLD_TOKEN, LEASEHOLD_OWNER, LEASEHOLD_DEADLINE (Unix seconds, as it starts) and LEASEHOLD_LEASE_FILE, a JSON file kept current. Several keys are taken in one order; KEY then has one a line, and TOKEN one a line.",
    "If the lease is not renewed in time the whole group gets SIGTERM, and SIGKILL before the lease is over for others, or at once where it may be another's already; the exit code is 79. What the command leaves running in its group is ended with it. Its exit code and signals are passed on.",
    "Keys of which one begins with - stand between two --, that one first: leasehold run -- -x y -- make",
  ],
  examples: [
    ["leasehold run deploy -- ./deploy.sh", "one deploy at a time on this machine"],
    [
      "leasehold run --store gs://locks/cron --lock-timeout 0 -E 0 nightly -- backup",
      "a cron job on many machines: whoever comes second skips it",
    ],
    ["leasehold run --scope cache db files -- sh -c 'echo $LEASEHOLD_TOKEN'", "two keys at once"],
  ],
  action: async () => (await import("./run/run.ts")).run,
}

const status: CommandSpec = {
  name: "status",
  summary: "show who owns a key",
  usage: "status [options] [--] <key>",
  operands: [1, 1],
  options: STORE_OPTIONS,
  about: [`One read of its record. Times are the store's own. ${READS}`],
  examples: [
    ["leasehold status deploy", "who deploys, and since when"],
    ["leasehold status --json deploy", "the same for a script"],
  ],
  action: async () => (await import("./commands/status.ts")).status,
}

const ls: CommandSpec = {
  name: "ls",
  summary: "list the keys of a store",
  usage: "ls [options] [--] [prefix]",
  operands: [0, 1],
  options: { ...STORE_OPTIONS, owned: { summary: "Only keys that have an owner" } },
  about: [`All keys that begin with the prefix, with a read for each. ${READS}`],
  examples: [
    ["leasehold ls --owned", "what is locked now"],
    ["leasehold ls --store gs://locks/cron night", "keys that begin with night"],
  ],
  action: async () => (await import("./commands/ls.ts")).ls,
}

const request: CommandSpec = {
  name: "request",
  summary: "ask the owner of a key to hand it off",
  usage: "request [options] [--] <key>",
  operands: [1, 1],
  options: {
    ...STORE_OPTIONS,
    for: { value: "TIME", summary: "How long to stand as the one who waits (default: 5s)" },
  },
  about: [
    "Stands as the waiter of the key for a moment, so that the owner hears of it, and withdraws. What is granted meanwhile is released at once.",
  ],
  examples: [["leasehold request deploy", "ask whoever deploys to stop"]],
  action: async () => (await import("./commands/request.ts")).request,
}

const unlock: CommandSpec = {
  name: "unlock",
  summary: "take a key from its owner by force",
  usage: "unlock [options] [--] <key>",
  operands: [1, 1],
  options: {
    ...STORE_OPTIONS,
    generation: { value: "G", summary: "Only if the record is still this version (see status)" },
  },
  about: [
    "Without --generation it only says what it would break. The owner may go on until it finds out, so make sure that it is dead or stopped. It leaves a released record, so that fencing tokens go on growing.",
  ],
  examples: [
    ["leasehold unlock deploy", "see what would be broken, and the line that does it"],
    ["leasehold unlock deploy --generation 17", "do it, if nothing has changed meanwhile"],
  ],
  action: async () => (await import("./commands/unlock.ts")).unlock,
}

const doctor: CommandSpec = {
  name: "doctor",
  summary: "examine a store, and say what to mend",
  usage: "doctor [options]",
  operands: [0, 0],
  options: STORE_OPTIONS,
  about: [
    "Probes the store (does it honour preconditions?), compares clocks, and judges the bucket's or directory's settings: versioning, soft delete, retention, lifecycle, public access. Each finding has its remedy. Exit 71 where the store is unfit.",
  ],
  examples: [
    ["leasehold doctor --store gs://locks", "before trusting a bucket"],
    ["leasehold doctor", "the directory that is used by default"],
  ],
  action: async () => (await import("./commands/doctor/doctor.ts")).doctor,
}

const chart: CommandSpec = {
  name: "chart",
  summary: "draw a state machine, or leasehold's own chart",
  usage: "chart [options] [--] [module[#export]]",
  operands: [0, 1],
  options: {
    svg: {
      summary: "As SVG, light and dark by the viewer's preference; of your own machines it needs the package elkjs",
    },
    mermaid: { summary: "As Mermaid, which GitHub draws" },
    ascii: { summary: "As text" },
    output: {
      value: "FILE",
      short: "o",
      completes: "file",
      summary: "Write to FILE: .svg, .mmd or .txt says the form (default: text on standard output)",
    },
    trace: {
      value: "FILE",
      completes: "file",
      summary: "Count in leasehold's own chart how often a recorded run took each transition",
    },
    key: { value: "KEY", summary: "Count for this lock key alone; with --trace" },
  },
  about: [
    "Draws any machine of XState 5: the default export of a module, the only machine that it exports, or the one that is named after #. Without a module it draws the chart of leasehold's own sandboxes.",
    "The module is RUN, with all rights of this command, as any script is: draw none that you don't trust. It is loaded from the path that is given, and looked for nowhere else. TypeScript is taken as it is.",
  ],
  examples: [
    ["leasehold chart", "leasehold's own chart, as text"],
    ["leasehold chart src/checkout.ts -o docs/checkout.svg", "a machine of yours, for its documentation"],
    ["leasehold chart --trace run.ndjson --key counter/user-42 -o run.svg", "what one sandbox went through"],
  ],
  action: async () => (await import("./commands/chart/chart.ts")).chart,
}

const open: CommandSpec = {
  name: "open",
  summary: "show a recorded trace in the live page",
  usage: "open [options] [--] <trace>",
  operands: [1, 1],
  options: {
    port: { value: "PORT", summary: "Serve at this port of 127.0.0.1 (default: one that is free)" },
  },
  about: [
    "Serves the page at 127.0.0.1, with the trace in it, and prints its address, which has a token that whoever looks has to know. Traces are written by managers (option trace), by simulations and by tests. Ctrl-C ends it.",
  ],
  examples: [["leasehold open leases.ndjson", "look at what a worker has written"]],
  action: async () => (await import("./commands/open.ts")).open,
}

const top: CommandSpec = {
  name: "top",
  summary: "show a fleet in the terminal, as it goes on",
  usage: "top [options] [--] [<address or trace>]",
  operands: [0, 1],
  options: {
    search: {
      value: "TEXT",
      summary: "Only sandboxes that the search finds, as in the page: worker:a state:waiting held>5m",
    },
    plain: { summary: "One line a change, for logs (default where standard output is no terminal)" },
  },
  about: [
    "Of a fleet: give the whole address that a worker prints of its page, with its token. Of a recorded trace: give its file.",
    "Without either it takes the address from LEASEHOLD_PAGE, where other users of the machine can't read the token.",
    "Keys: arrows, Page Up and Down, Home and End move; / searches; s sorts by another column; a shows only what needs attention; q ends. With --json one JSON line a change.",
  ],
  examples: [
    ["leasehold top 'http://127.0.0.1:8080/_leasehold/?token=…'", "the fleet of that worker"],
    ["leasehold top --plain --search state:waiting leases.ndjson", "what waited, from a trace, one line a change"],
  ],
  action: async () => (await import("./commands/top/top.ts")).top,
}

const completions: CommandSpec = {
  name: "completions",
  summary: "print completions for bash, zsh or fish",
  usage: "completions <bash|zsh|fish>",
  operands: [1, 1],
  options: {},
  about: ["Prints a script for your shell to load."],
  examples: [["source <(leasehold completions bash)", "in ~/.bashrc"]],
  action: async () => (await import("./commands/completions.ts")).completionsOf(COMMANDS),
}

/** In the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [
  run,
  status,
  ls,
  request,
  unlock,
  doctor,
  chart,
  open,
  top,
  completions,
]
