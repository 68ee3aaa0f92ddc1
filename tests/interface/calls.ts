/**
 * Every public function, class and method with what it takes: the table that `garbage.test.ts` walks. A name that an
 * entry point or an object has and this table hasn't fails the test, so that no new call goes without its checks.
 */
import * as calling from "../../src/client/mod.ts"
import * as draw from "../../src/draw/mod.ts"
import * as http from "../../src/http/mod.ts"
import * as inspecting from "../../src/inspector/mod.ts"
import { FileLock, fileStore } from "../../src/locks/stores/file/mod.ts"
import { GcsLock, gcsStore } from "../../src/locks/stores/gcs/mod.ts"
import * as main from "../../src/mod.ts"
import * as testing from "../../src/testing/mod.ts"
import type { Argument } from "./garbage.ts"

const isOneOf =
  (...taken: readonly unknown[]) =>
  (value: unknown): boolean =>
    taken.some((each) => Object.is(each, value))

const argument = (good: () => unknown, takes: (garbage: unknown) => boolean = () => false): Argument => ({
  good,
  takes,
})

const isPlain = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)

/** Options, which may be left out. */
const options = (): Argument => ({
  good: () => ({}),
  takes: (value) => value === undefined || isPlain(value),
  isOptions: true,
})
/** Options of which some are required. */
const required = (good: () => object): Argument => ({ good, takes: () => false, isOptions: true })

const key = argument(() => "k")
const isFunction = (value: unknown): boolean => typeof value === "function"
const callback = argument(() => () => {}, isFunction)
const duration = argument(() => "1 s", isOneOf(1))
const anything = argument(
  () => 1,
  () => true,
)
const definition = argument(() => counter)
const machine = argument(() => main.sandboxChart)

export const counter: main.SandboxDefinition<{ n: number }, { n: number }> = main.defineSandbox({
  name: "counter",
  schema: main.unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
  calls: { get: { readonly: true, handle: ({ n }) => n } },
})

/** Of these calls none begins anything with it. */
const inspected = await main.SandboxManager.start({
  store: main.memoryStore(),
  sandboxes: [counter],
  address: "http://127.0.0.1:1",
})

const secret = "a-secret-of-one-fleet"

const hooks = {
  name: "hooks",
  schema: main.bytes,
  restore: () => 0,
  checkpoint: () => new Uint8Array(),
}

/** What the calls of one object take. `internal`: methods that no documentation shows. */
export interface Methods {
  readonly of: (use: (object: object) => Promise<void>) => Promise<void>
  readonly calls: Readonly<Record<string, readonly Argument[]>>
  readonly exempt?: Readonly<Record<string, string>>
}

/** Of what an entry point exports: functions, and classes, which are constructed. Constants are objects below. */
export const exported: Readonly<
  Record<string, { readonly entry: object; readonly calls: Readonly<Record<string, readonly Argument[]>> }>
> = {
  leasehold: {
    entry: main,
    calls: {
      onShutdown: [callback, options()],
      logWaits: [
        argument(
          () => () => {},
          (value) => value === undefined || isFunction(value),
        ),
        options(),
      ],
      terminalWaits: [options()],
      LockWaitEvents: [options()],
      waitBudget: [{ ...options(), nullable: ["configuration"] }], // an empty file is null
      memoryLockProvider: [options()],
      noLockProvider: [options()],
      storeLockProvider: [required(() => ({ store: main.memoryStore() }))],
      StoreLock: [key, required(() => ({ store: main.memoryStore() }))],
      memoryStore: [options()],
      unchecked: [],
      defineSandbox: [required(() => hooks)],
      drainOnSignals: [argument(() => ({ drain: async () => ({ stuck: [] }) })), options()],
    },
  },
  "leasehold/gcs": {
    entry: { GcsLock, gcsStore },
    calls: {
      GcsLock: [key, required(() => ({ bucket: "bucket" }))],
      gcsStore: [required(() => ({ bucket: "bucket" }))],
    },
  },
  "leasehold/file": {
    entry: { FileLock, fileStore },
    calls: {
      FileLock: [key, required(() => ({ directory: "/tmp" }))],
      fileStore: [required(() => ({ directory: "/tmp" }))],
    },
  },
  "leasehold/inspector": {
    entry: inspecting,
    calls: {
      inspector: [argument(() => inspected), options()],
      serveInspector: [argument(() => inspected), options()],
      nodeListener: [argument(() => inspecting.inspector(inspected))],
    },
  },
  "leasehold/http": {
    entry: http,
    calls: {
      serveWorker: [argument(() => inspected), required(() => ({ secret }))],
      nodeListener: [argument(() => http.serveWorker(inspected, { secret }))],
      listen: [options()],
      signedBy: [argument(() => secret)],
    },
  },
  "leasehold/client": {
    entry: calling,
    calls: {
      client: [
        argument(() => [counter]),
        required(() => ({ workers: ["http://127.0.0.1:1"], auth: http.signedBy(secret) })),
      ],
      callable: [argument(() => counter)],
    },
  },
  "leasehold/draw": {
    entry: draw,
    calls: {
      toSvg: [machine, options()],
      toMermaid: [machine, options()],
      toAscii: [machine, options()],
      chartEdges: [machine],
      edgesTaken: [
        machine,
        argument(() => ({ owning: { lease: "healthy", work: "running" } }), isOneOf(undefined)),
        argument(() => ({ released: "clean" })),
        argument(() => "leave", isOneOf(undefined)),
      ],
      EdgeCounter: [machine],
    },
  },
  "leasehold/testing": {
    entry: testing,
    calls: {
      layerTestClock: [argument(() => new testing.VirtualTime())],
      VirtualTime: [options()],
      conformance: [callback, options()],
      check: [options()],
      smallestGuard: [options(), argument(() => 100, isOneOf(undefined, 1))],
      FakeLock: [key, required(() => ({ world: testing.fakeWorld() }))],
      fakeWorld: [options()],
      checkTrace: [argument(trace), argument(() => testing.allInvariants, Array.isArray)],
      TraceWatch: [
        argument(() => testing.allInvariants, Array.isArray),
        argument(
          () => () => {},
          (value) => value === undefined || isFunction(value),
        ),
      ],
      simulate: [required(() => ({ sandbox: counter, seeds: 1 }))],
      testWorker: [definition, { ...options(), nullable: ["checkpoint"] }], // null is JSON
      traceTable: [argument(trace), options()],
      timelineHtml: [argument(trace), options()],
      TraceRecorder: [required(() => ({ source: "live", onLine: () => {} }))],
      appliedWrite: [argument(() => applied)],
      mergeTraces: [argument(() => [trace()])],
      formatTrace: [argument(trace)],
      formatTraceLine: [argument(() => trace().header, isPlain)],
      isTraceLine: [anything],
      parseTrace: [argument(() => testing.formatTrace(trace()))],
      traceHash: [
        argument(
          () => [1],
          (value) => Array.isArray(value) || value === "",
        ),
      ],
    },
  },
}

function trace(): testing.Trace {
  return { header: { kind: "trace", version: 1, source: "live", seed: null, commit: null }, lines: [] }
}

const applied = { worker: null, area: "leases", name: "k", before: "0", generation: "1", body: undefined } as const

const port = "leasehold calls it: a port of its own"
const noCall = "the library calls it, and what it throws is the cause of a typed error"

/** What the objects take that calls give. */
export const objects: Readonly<Record<string, Methods>> = {
  SandboxManager: {
    of: (use) => use(main.SandboxManager),
    calls: { start: [required(() => ({ store: main.memoryStore(), sandboxes: [counter] }))] },
  },
  bytes: { of: (use) => use(main.bytes), calls: {}, exempt: { encode: noCall, decode: noCall } },
  "a codec of unchecked": { of: (use) => use(main.unchecked()), calls: {}, exempt: { encode: noCall, decode: noCall } },
  "a lock": {
    of: (use) => use(new main.StoreLock("k", { store: main.memoryStore() })),
    calls: {
      acquire: [options()],
      renew: [options()],
      release: [],
      peek: [],
      onReleaseRequested: [callback],
      onRenewalError: [callback],
    },
    exempt: { acquireSince: "internal" },
  },
  "a lease": {
    of: async (use) => {
      await using lease = await new main.StoreLock("k", { store: main.memoryStore() }).acquire()
      await use(lease)
    },
    calls: {
      isHeld: [],
      traced: [argument(() => "possible")],
      stay: [duration],
      renew: [options()],
      release: [options()],
    },
    exempt: { nameGroups: "internal" },
  },
  ...Object.fromEntries(
    (
      [
        ["a provider in memory", () => main.memoryLockProvider(), { passOn: "internal" }],
        ["a provider over a store", () => main.storeLockProvider({ store: main.memoryStore() })],
        ["a provider that keeps nobody out", () => main.noLockProvider()],
      ] as readonly (readonly [string, () => main.LockProvider, Methods["exempt"]?])[]
    ).flatMap(([name, make, exempt = {}]): [string, Methods][] => [
      [
        name,
        {
          of: (use) => use(make()),
          calls: {
            withLock: [key, callback, options()],
            acquire: [key, options()],
            acquireAll: [argument(() => ["k"]), options()],
            stats: [],
          },
          exempt,
        },
      ],
    ]),
  ),
  ...Object.fromEntries(
    [main.memoryLockProvider(), main.noLockProvider()].map((provider, index): [string, Methods] => [
      `a held lock of provider ${index}`,
      {
        of: async (use) => {
          await using held = await provider.acquire("k")
          await use(held)
        },
        calls: { isHeld: [], release: [] },
        exempt: index === 0 ? { end: "internal", queued: "internal" } : {},
      },
    ]),
  ),
  "several held locks": {
    of: async (use) => {
      await using held = await main.memoryLockProvider().acquireAll(["a", "b"])
      await use(held)
    },
    calls: { token: [anything], isHeld: [], release: [] },
  },
  "a manager": {
    of: async (use) => {
      await using manager = await startManager()
      await use(manager)
    },
    calls: {
      restoreSandbox: [definition, key, options()],
      use: [definition, key, callback, options()],
      call: [definition, key, argument(() => "get"), anything, options()],
      checkpointSandbox: [definition, key],
      remove: [definition, key, options()],
      readCheckpoint: [definition, key],
      list: [definition],
      whereIs: [definition, key],
      sandboxes: [],
      stats: [],
      cordon: [],
      drain: [options()],
    },
  },
  "a sandbox": {
    of: async (use) => {
      await using manager = await startManager()
      await use(await manager.restoreSandbox(counter, "k"))
    },
    calls: { use: [callback, options()], checkpoint: [], release: [] },
  },
  "the context of run": {
    of: async (use) => {
      const { promise: context, resolve } = Promise.withResolvers<main.RunContext>()
      const runs = main.defineSandbox({ ...hooks, name: "runs", run: async (_state, given) => resolve(given) })
      await using manager = await main.SandboxManager.start({ store: main.memoryStore(), sandboxes: [runs] })
      await manager.restoreSandbox(runs, "k")
      await use(await context)
    },
    calls: { turn: [callback], checkpoint: [] },
  },
  "the clock of a sandbox": {
    of: async (use) => {
      await using manager = await startManager()
      await manager.use(counter, "k", (_state, { clock }) => use(clock))
    },
    calls: { now: [], random: [], sleep: [duration] },
  },
  "an observer of waits": {
    of: (use) => use(new main.LockWaitEvents()),
    calls: Object.fromEntries(
      ["waitStarted", "retry", "progress", "acquired", "timedOut", "cancelled", "failed"].map((name) => [
        name,
        [anything],
      ]),
    ),
  },
  "virtual time": {
    of: (use) => use(new testing.VirtualTime()),
    calls: {
      read: [],
      mono: [],
      random: [],
      id: [],
      advance: [argument(() => 1, isOneOf(1))],
      advanceSync: [argument(() => 1, isOneOf(1))],
      runUntilIdle: [],
      runUntil: [argument(() => Promise.resolve())],
      stepWall: [argument(() => 1, isOneOf(1))],
      suspend: [argument(() => 1, isOneOf(1))],
      stall: [argument(() => 1, isOneOf(1))],
    },
    exempt: { after: port, soon: port },
  },
  "a fake world": {
    of: (use) => use(testing.fakeWorld()),
    calls: {
      advance: [duration],
      until: [argument(() => Promise.resolve())],
      process: [argument(() => "a", isOneOf(undefined))],
    },
  },
  "a fake process": {
    of: (use) => use(testing.fakeWorld().process("a")),
    calls: { pause: [], sleep: [], resume: [], stepWall: [argument(() => 1, isOneOf(1))], kill: [] },
  },
  "a worker under test": {
    of: async (use) => {
      await using worker = await testing.testWorker(counter)
      await use(worker)
    },
    calls: {
      use: [callback, options()],
      saved: [],
      advance: [duration],
      run: [argument(() => Promise.resolve())],
      pause: [duration, options()],
      fault: [argument(() => "status"), options()],
      requestHandoff: [],
      crash: [],
    },
    exempt: { restore: "internal" },
  },
  "the store of a worker under test": {
    of: async (use) => {
      await using worker = await testing.testWorker(counter)
      await use(worker.store)
    },
    calls: {
      inject: [{ ...required(() => ({ kind: "loseAnswer", worker: null })), nullable: ["worker"] }],
      heal: [],
      tamper: [argument(() => ({ area: "leases", name: "k" })), argument(() => new Uint8Array(), isOneOf(undefined))],
    },
  },
  "a watch of a trace": {
    of: (use) => use(new testing.TraceWatch(testing.allInvariants)),
    calls: { line: [anything], end: [] },
  },
  "a recorder": {
    of: (use) => use(new testing.TraceRecorder({ source: "live", onLine: () => {} })),
    calls: {
      worker: [argument(() => "a")],
      fault: [argument(() => "crash"), options()],
      applied: [
        argument(() => ({ worker: null, op: "put", area: "leases", name: "k", before: "0", generation: "1" }), isPlain),
      ],
      note: [argument(() => "note"), options()],
    },
  },
  "a recorder of a worker": {
    of: (use) => use(new testing.TraceRecorder({ source: "live", onLine: () => {} }).worker("a")),
    calls: {
      locks: [argument(() => new main.LockWaitEvents().events$)],
      states: [argument(() => new main.LockWaitEvents().events$)],
      store: [argument(() => main.memoryStore())],
      sandbox: [definition],
      use: [callback],
      call: [argument(() => ({ call: "use", key: "k" }), isPlain), argument(() => async () => {}, isFunction)],
    },
    exempt: { inspect: "XState calls it" },
  },
}

function startManager(): Promise<main.SandboxManager> {
  return main.SandboxManager.start({ store: main.memoryStore(), sandboxes: [counter] })
}
