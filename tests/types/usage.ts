// What must, and must not, compile. Never run: `tsc` reads it, and an expected error that isn't one fails the check.
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { AnyActorRef } from "xstate"
import * as z from "zod"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import {
  bytes,
  defineSandbox,
  LockError,
  memoryStore,
  type Sandbox,
  type SandboxDefinition,
  SandboxManager,
  StoreLock,
  unchecked,
} from "../../src/mod.ts"
import { simulate, type TestWorker, testWorker } from "../../src/testing/mod.ts"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const is = <T extends true>(): T => true as T

const counter = defineSandbox({
  name: "counter",
  schema: z.object({ n: z.number() }),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0, dirty: false }),
  async run(state, { turn, clock }) {
    for (;;) {
      await clock.sleep("1 s")
      await turn(() => {
        state.n++
      })
    }
  },
  checkpoint: (state) => ({ n: state.n }),
})
is<Equal<typeof counter, SandboxDefinition<{ n: number; dirty: boolean }, { n: number }>>>()

const eff = defineSandbox({
  name: "eff",
  schema: Schema.toStandardSchemaV1(Schema.Struct({ at: Schema.DateFromString })),
  restore: async ({ checkpoint }) => ({ at: checkpoint?.at ?? new Date(0) }),
  checkpoint: (s) => ({ at: s.at.toISOString() }),
})
is<Equal<typeof eff, SandboxDefinition<{ at: Date }, { readonly at: string }>>>()
defineSandbox({
  name: "eff",
  schema: Schema.toStandardSchemaV1(Schema.Struct({ at: Schema.DateFromString })),
  restore: async ({ checkpoint }) => ({ at: checkpoint?.at ?? new Date(0) }),
  // @ts-expect-error checkpoint gives the encoded side
  checkpoint: (s) => ({ at: s.at }),
})

// A schema of zod's has `encode` and `decode` of its own: they must not be taken for a codec's.
const dated = defineSandbox({
  name: "dated",
  schema: z.object({ at: z.string().transform((text) => new Date(text)) }),
  restore: ({ checkpoint }) => ({ at: checkpoint?.at ?? new Date(0) }),
  checkpoint: (s) => ({ at: s.at.toISOString() }),
  close: (s, { reason }) => void (reason === "lost" && s.at.getTime()),
})
is<Equal<typeof dated, SandboxDefinition<{ at: Date }, { at: string }>>>()

const db = defineSandbox({
  name: "db",
  schema: bytes,
  restore: ({ checkpoint }) => ({ file: checkpoint ?? new Uint8Array() }),
  checkpoint: (s) => s.file,
  idleAfter: "5 min",
  backOff: Schedule.exponential("1 second"),
})
defineSandbox({
  name: "raw",
  schema: bytes,
  restore: () => 1,
  checkpoint: () => new Uint8Array(),
  // @ts-expect-error nothing tells such a schedule what to fail with
  backOff: Schedule.forever.pipe(Schedule.addDelay(() => Effect.fail("as scripted"))),
})
const raw = defineSandbox({
  name: "raw",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: (s) => s,
})
defineSandbox({
  name: "raw",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  // @ts-expect-error not what the schema says
  checkpoint: (s) => ({ m: s.n }),
})
defineSandbox({
  name: "raw",
  schema: bytes,
  restore: () => 1,
  checkpoint: () => new Uint8Array(),
  // @ts-expect-error no duration
  idleAfter: "5 minutes",
})

const store = fileStore({ directory: "leases" })
const manager: SandboxManager = await SandboxManager.start({
  store,
  sandboxes: [counter, eff, dated, db, raw],
  address: "http://10.0.0.3:8080",
})
const n = await manager.use(
  counter,
  "user-42",
  (s, { token }) => {
    s.n += 10
    return s.n + token
  },
  { durable: true, timeout: "30 s" },
)
is<Equal<typeof n, number>>()
const text = await manager.use(raw, "user-42", async (s) => String(s.n), { whenOwned: "report" })
is<Equal<typeof text, string>>()

const m = await manager.restoreSandbox(counter, "user-42", { whenOwned: "report" })
is<Equal<typeof m, Sandbox<{ n: number; dirty: boolean }>>>()
m.state$.subscribe((s) => {
  if (s.matches({ owning: { lease: "degraded" } })) s.context.token?.toFixed()
})
// @ts-expect-error not a state
m.state$.subscribe((s) => s.matches({ owning: { lease: "x" } }))
const selectable: Pick<AnyActorRef, "subscribe" | "getSnapshot"> = m.actor
// @ts-expect-error nobody outside sends to the chart
m.actor.send({ type: "lock.lost" })
// @ts-expect-error nobody outside stops it
m.actor.stop()
void selectable

const saved = await manager.readCheckpoint(dated, "k")
is<Equal<typeof saved, { at: string } | undefined>>()
for await (const key of manager.list(raw)) key.toUpperCase()
const where = await manager.whereIs(raw, "k")
if (where?.here === false) where.address?.toUpperCase()

try {
  await manager.restoreSandbox(counter, "k", { whenOwned: "report" })
} catch (e) {
  if (e instanceof LockError && e.code === "LEASEHOLD_ELSEWHERE") e.owner?.address?.toUpperCase()
}
// @ts-expect-error a lock factory alone has nowhere to put checkpoints
void SandboxManager.start({ lockFactory: (key) => new StoreLock(key, { store }), sandboxes: [counter] })
void SandboxManager.start({
  lockFactory: (key) => new StoreLock(key, { store }),
  checkpoints: memoryStore(),
  sandboxes: [counter],
})
// @ts-expect-error one or the other
void SandboxManager.start({ store, lockFactory: (key) => new StoreLock(key, { store }), sandboxes: [counter] })
// @ts-expect-error code under a lease cannot end it
await manager.use(counter, "user-42", (_, { lease }) => lease.release())
// @ts-expect-error a checkpoint inside a use would wait for its own turn
await manager.use(counter, "user-42", (_, context) => context.checkpoint())

// A worker under test has the types of its definition.
await using worker = await testWorker(counter, { checkpoint: { n: 5 } })
await worker.advance("5 s")
is<Equal<typeof worker, TestWorker<{ n: number; dirty: boolean }, { n: number }>>>()
const next = await worker.requestHandoff()
is<Equal<typeof next, typeof worker>>()
const left = await next.saved()
is<Equal<typeof left, { n: number } | undefined>>()
const doubled = await next.use((s, { token }) => s.n * token, { durable: true })
is<Equal<typeof doubled, number>>()
await testWorker(eff, { checkpoint: { at: "2026-01-01T00:00:00Z" } })
// @ts-expect-error wrong checkpoint
await testWorker(counter, { checkpoint: { m: 5 } })
// @ts-expect-error what is given is the encoded side
await testWorker(eff, { checkpoint: { at: new Date(0) } })
// @ts-expect-error no such fault
worker.fault("explode")
// @ts-expect-error a saved checkpoint has what the schema says, and not the live state
void (await next.saved())?.dirty

await simulate({
  sandbox: counter,
  seeds: 200,
  workers: 3,
  workload: async ({ workers, random }) => {
    await random.pick(workers).use(
      (s) => {
        s.n++
      },
      { durable: true },
    )
  },
})
await simulate({
  sandbox: counter,
  seeds: 1,
  // @ts-expect-error no such state
  workload: async ({ workers }) => void (await workers[0]!.use((s) => s.m)),
})
