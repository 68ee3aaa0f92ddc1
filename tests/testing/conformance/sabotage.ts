// Stores that are wrong in one way each, by the case of the suite that has to refuse them. All wrap the memory store.
import { ABSENT, type Generation, type WriteAnswer } from "../../../src/locks/stores/port.ts"
import {
  arrivesLate,
  cached,
  capable,
  carelessPut,
  comparesWithItsOwn,
  countsAnew,
  current,
  lookThenAct,
  never,
  options,
  reads,
  renaming,
  type Sabotage,
  shares,
  torn,
  turn,
} from "./saboteurs.ts"

let names = 0

/** For each case: stores that it refuses, and a part of what it says. */
export const sabotages: Readonly<Record<string, readonly (readonly [Sabotage, RegExp])[]>> = {
  "answers absent for what was never written, in every area": [
    [
      reads((answer, known) => (known === "999" ? { kind: "unchanged", generation: known } : answer)),
      /answered unchanged for leases\/user-42, which was never written/,
    ],
  ],
  "keeps every byte of a body of a megabyte": [
    [
      reads((answer) => {
        if (answer.kind === "found" && answer.body.length > 65_536) answer.body[65_536]! ^= 1
        return answer
      }),
      /changed the byte at 65536/,
    ],
    [
      reads((answer) => (answer.kind === "found" ? { ...answer, body: answer.body.slice(0, 65_536) } : answer)),
      /read 65536 bytes of 1048576/,
    ],
  ],
  "keeps an empty body apart from no object": [
    [
      reads((answer) => (answer.kind === "found" && answer.body.length === 0 ? { kind: "absent" } : answer)),
      /answered absent for leases\/user-42, whose body is empty/,
    ],
    [carelessPut((expected) => expected === ABSENT), /answered applied to a create of leases\/user-42, which exists/],
  ],
  "keeps its own copy of a body: what a caller does to it later changes nothing": [
    [shares, /holds ".*" after its callers overwrote their arrays/],
  ],
  "answers unchanged for no generation but the one that the object has": [
    [
      reads((answer, known) =>
        answer.kind === "found" && known !== undefined ? { kind: "unchanged", generation: answer.generation } : answer,
      ),
      /answered unchanged where found was due/,
    ],
  ],
  "answers tooLarge for a body over the limit, with its generation, and found at the limit": [
    [
      ({ real }) => ({ read: (ref, asked) => real.read(ref, { ...asked, limit: 2 ** 21 }) }),
      /answered found where tooLarge/,
    ],
    [
      ({ real }) => ({ read: (ref, asked) => real.read(ref, { ...asked, limit: asked.limit - 1 }) }),
      /answered tooLarge where found was due/,
    ],
  ],
  "reads body and generation of one version while others write": [
    [torn, /read the body of version \d+ .* generation of another/],
  ],
  "never goes back to an older version than one it has shown": [
    [cached, /read version \d+ after it had shown version \d+/],
  ],
  "tells the time as its capabilities say": [
    [capable({ clock: "none" }), /stamped an answer \(found\), though it declares no clock/],
    [
      ({ real }) => ({
        capabilities: { ...real.capabilities, clock: "coarse" },
        read: async (ref, asked) => ({ ...(await real.read(ref, asked)), storeTime: 1_700_000_000_001 }),
      }),
      /no whole second/,
    ],
  ],
  "creates once, and refuses to create what is there": [
    [carelessPut((expected) => expected === ABSENT), /answered applied to a create of what exists/],
  ],
  "writes on the newest generation only": [
    [
      carelessPut((expected, there) => expected !== ABSENT && there !== ABSENT),
      /answered applied to a put on .* not the newest/,
    ],
  ],
  "refuses to write on a generation where there is no object": [
    [carelessPut((_, there) => there === ABSENT), /answered applied to a put on 1 of an object that does not exist/],
  ],
  "shows the generation of an applied write to the next read": [
    [
      ({ real }) => ({
        put: async (...put) => {
          const answer = await real.put(...put)
          return answer.kind === "applied" ? { ...answer, generation: `${answer.generation}x` } : answer
        },
      }),
      /reads the generation 1 after it said 1x/,
    ],
  ],
  "lets one of twenty concurrent creates through": [
    [lookThenAct((expected) => expected === ABSENT), /applied 20 of 20 at once on one leases\/user-42/],
  ],
  "lets one of twenty concurrent writers of a generation through": [
    [lookThenAct((expected) => expected !== ABSENT), /applied 20 of 20 at once on one leases\/user-42/],
  ],
  "loses no update of four writers, each with a store object of its own": [
    [comparesWithItsOwn, /lost update \d of writer \d/],
  ],
  "tells the truth about a write that its caller gave up: whole or not at all, and never over a later one": [
    [
      ({ real }) => ({
        put: async (ref, expected, body, asked) => {
          const answer = await real.put(ref, expected, body, asked)
          return asked.signal?.aborted === true ? { kind: "refused" } : answer
        },
      }),
      /answered refused to a given up put whose precondition held/,
    ],
    [
      ({ real }) => ({
        put: async (ref, expected, body, asked) =>
          asked.signal?.aborted === true ? { kind: "applied", generation: "77" } : real.put(ref, expected, body, asked),
      }),
      /said applied, and holds 0/,
    ],
    [arrivesLate, /holds "?given up after \d turns/],
  ],
  "keeps to the spacing that it declares: says throttled within it, and writes after it": [
    [
      ({ real }) => ({
        put: async (ref, expected, body, asked) =>
          expected === ABSENT ? real.put(ref, expected, body, asked) : { kind: "refused" },
      }),
      /answered refused to a write right after another/,
    ],
  ],
  "declares of deletes what the suite was told": [[capable({ deletes: false }), /declares deletes: false/]],
  "deletes on the newest generation only": [
    [
      ({ real }) => ({ remove: async (ref) => real.remove(ref, await current(real, ref), options) }),
      /answered applied to a delete on 0, which is not the newest/,
    ],
    [
      ({ real }) => ({
        remove: async (ref, expected): Promise<WriteAnswer> =>
          expected === (await current(real, ref)) ? { kind: "applied", generation: expected } : { kind: "refused" },
      }),
      /answers second for leases\/user-42, which it said was deleted/,
    ],
  ],
  "refuses to delete what is absent or deleted": [
    [
      ({ real }) => ({
        remove: async (ref, expected) => {
          const answer = await real.remove(ref, expected, options)
          return answer.kind === "refused" && (await current(real, ref)) === ABSENT
            ? { kind: "applied", generation: expected === ABSENT ? "1" : expected }
            : answer
        },
      }),
      /answered applied to a delete on 0 of what does not exist/,
    ],
  ],
  "lets one through where ten deletes and ten writes of a generation come at once": [
    [
      ({ real, clock }) => ({
        remove: async (ref, expected) => {
          if ((await current(real, ref)) !== expected) return { kind: "refused" }
          await turn(clock)
          await real.remove(ref, await current(real, ref), options)
          return { kind: "applied", generation: expected }
        },
      }),
      /applied \d+ of 20 at once on one leases\/user-42/,
    ],
  ],
  "never repeats a generation, neither of an object nor of one that was deleted": [
    [countsAnew, /gave 8 versions of leases\/user-42 the generations 1, 2, 1, 2/],
  ],
  "stores names that look alike as objects of their own": [
    [
      renaming(({ area, name }) => ({ area, name: name.replaceAll("=2f", "_") })),
      /answered refused to the create of leases\/a_b/,
    ],
  ],
  "stores the name of every key, the longest ones and those with slashes too": [
    [
      renaming(({ area, name }) => ({ area, name: name.slice(0, 100) })),
      /answered refused to the create of leases\/x{100}~/,
    ],
    [
      renaming(({ area, name }) => ({ area, name: name.split("/")[0]! })),
      /answered refused to the create of state\/.*\/17-1-abc/,
    ],
  ],
  "keeps its areas apart": [
    [
      renaming(({ name }) => ({ area: "leases", name: name.split("/")[0]! })),
      /shows in state what was written in another area/,
    ],
  ],
  "lists by prefix, with the generations of reads": [
    [
      ({ real }) => ({ list: (area, asked) => real.list(area, { ...asked, prefix: asked.prefix.split("/")[0]! }) }),
      /lists a-b\/head, .* which the prefix "a\/" does not have/,
    ],
    [
      ({ real }) => ({
        list: async (area, asked) => {
          const page = await real.list(area, asked)
          return { ...page, items: page.items.map((item) => ({ ...item, generation: "1" })) }
        },
      }),
      /with the generation 1, not /,
    ],
  ],
  "lists nothing that was deleted": [
    [
      ({ real }) => {
        const deleted: { name: string; generation: Generation }[] = []
        return {
          remove: (ref, expected, asked) => {
            deleted.push({ name: ref.name, generation: expected })
            return real.remove(ref, expected, asked)
          },
          list: async (area, asked) => ({ items: [...(await real.list(area, asked)).items, ...deleted] }),
        }
      },
      /lists user-42, which the prefix "user-42" does not have/,
    ],
  ],
  "lists more than a page holds, each name once, and goes on where a listed name was deleted meanwhile": [
    [
      ({ real }) => ({
        list: async (area, { after: _, ...asked }) => {
          const { items } = await real.list(area, asked)
          return { items }
        },
      }),
      /leaves out n01000, n01001, n01002 and 200 more/,
    ],
    [
      ({ real }) => ({
        list: async (area, asked) => {
          if (asked.after !== undefined && (await current(real, { area, name: asked.after })) === ABSENT)
            return { items: [] }
          return real.list(area, asked)
        },
      }),
      /leaves out n01000/,
    ],
    [
      ({ real }) => ({ list: (area, { after: _, ...asked }) => real.list(area, asked) }),
      /lists \d+ names of n more than once/,
    ],
  ],
  "never rejects a read or a write, also before its start and after its close": [
    [
      ({ real }) => {
        let started = false
        return {
          start: async () => void (started = true),
          read: async (ref, asked) => {
            if (!started) throw new Error("not started")
            return real.read(ref, asked)
          },
        }
      },
      /rejected a read of leases\/user-42 with Error: not started/,
    ],
    [
      ({ real }) => {
        let closed = false
        return {
          close: async () => void (closed = true),
          put: (...put) => (closed ? Promise.reject(new TypeError("closed")) : real.put(...put)),
        }
      },
      /rejected a put of leases\/early with TypeError: closed/,
    ],
  ],
  "starts as often as it is asked to, and leaves nothing where others look": [
    [
      ({ real }) => {
        let starts = 0
        return {
          start: () => (starts++ === 0 ? real.start(options) : Promise.reject(new Error("started before"))),
        }
      },
      /rejected its start: Error: started before/,
    ],
    [
      ({ real }) => ({
        start: async () =>
          void (await real.put({ area: "leases", name: "scratch" }, ABSENT, new Uint8Array(), options)),
      }),
      /holds scratch under leases after its start/,
    ],
  ],
  "has capabilities that no longer change once it has started": [
    [
      ({ real }) => {
        let writes = 0
        return {
          get capabilities() {
            return { ...real.capabilities, cheapReads: writes === 0 }
          },
          put: (...put) => {
            writes++
            return real.put(...put)
          },
        }
      },
      /declared .* after its start, and .* later/,
    ],
  ],
  "has the same name in every store object of a place": [
    [() => ({ name: `number ${++names}` }), /is named number \d+ and number \d+/],
  ],
  "settles every call whose budget is nothing, and goes on afterwards": [
    [
      ({ real }) => ({ read: (ref, asked) => (asked.deadline <= 0 ? never() : real.read(ref, asked)) }),
      /did not settle a read of leases\/user-42 by its deadline of 0 ms/,
    ],
    [
      ({ real }) => ({
        list: (area, asked) => (asked.deadline <= 0 ? Promise.reject(new Error("too short")) : real.list(area, asked)),
      }),
      /rejected a list with Error: too short/,
    ],
  ],
  "settles every call that its caller gives up, and goes on afterwards": [
    [
      ({ real }) => ({
        remove: (ref, expected, asked) => (asked.signal ? never() : real.remove(ref, expected, asked)),
      }),
      /did not settle a call within 1000 ms of its abort/,
    ],
  ],
  "settles every call by its deadline though nothing answers, and says that it learned nothing": [
    [
      ({ real, silent }) => ({ put: async (...put) => (silent() ? { kind: "refused" } : real.put(...put)) }),
      /answered failed, refused, unknown, rejected though nothing answered it/,
    ],
    [
      ({ real, silent }) => ({ list: (...list) => (silent() ? never() : real.list(...list)) }),
      /did not settle a list of leases/,
    ],
  ],
  "settles every call that is given up though nothing answers": [
    [
      ({ real }) => ({ read: (ref, { signal: _, ...asked }) => real.read(ref, asked) }),
      /did not settle a call within 1000 ms of its abort/,
    ],
  ],
  "closes as often as it is asked to": [
    [
      () => {
        let closed = false
        return {
          close: async () => {
            if (closed) throw new Error("closed before")
            closed = true
          },
        }
      },
      /rejected its close: Error: closed before/,
    ],
  ],
  "keeps what it acknowledged for the next store object of the place, generations included": [
    [
      ({ real, number }) => ({
        read: (ref, asked) => (number > 0 ? Promise.resolve({ kind: "absent" } as const) : real.read(ref, asked)),
      }),
      /holds "absent" in leases after a restart/,
    ],
  ],
}
