/** Cases of writes: compare-and-swap, alone and in races, and writes that nobody waits for. */
import { ABSENT, type Generation, type ObjectRef, type WriteAnswer } from "../../locks/stores/port.ts"
import { both, isThrottled, lease, shown, strayGenerations, type Subject, told } from "./subject.ts"
import type { Trial } from "./trial.ts"

const swaps =
  "put writes if the object's generation is the expected one (ABSENT: if there is none), and else is refused"
const once = "of all who write on one generation, one is applied"

export const writing: readonly Trial[] = [
  {
    name: "creates once, and refuses to create what is there",
    asks: swaps,
    run: async (subject: Subject) => {
      for (const ref of both) {
        await subject.write(ref, ABSENT, "first")
        await isRefused(subject, ref, ABSENT, "a create of what exists")
        await holds(subject, ref, "first")
      }
    },
  },
  {
    name: "writes on the newest generation only",
    asks: swaps,
    run: async (subject: Subject) => {
      for (const ref of both) {
        const first = await subject.write(ref, ABSENT, "first")
        const second = await subject.write(ref, first, "second")
        for (const stale of [first, ...strayGenerations])
          await isRefused(subject, ref, stale, `a put on ${stale}, which is not the newest (${second})`)
        await holds(subject, ref, "second")
      }
    },
  },
  {
    name: "refuses to write on a generation where there is no object",
    asks: swaps,
    run: async (subject: Subject) => {
      for (const ref of both) {
        for (const stale of ["1", ...strayGenerations])
          await isRefused(subject, ref, stale, `a put on ${stale} of an object that does not exist`)
        await holds(subject, ref, "absent")
      }
    },
  },
  {
    name: "shows the generation of an applied write to the next read",
    asks: "applied carries the generation of the version that it made",
    run: async (subject: Subject) => {
      for (const ref of both) {
        let generation = ABSENT
        for (let version = 0; version < 3; version++) {
          generation = await subject.write(ref, generation, `version ${version}`)
          const seen = await subject.generation(ref)
          subject.check(seen === generation, `reads the generation ${seen} after it said ${generation}`)
        }
      }
    },
  },
  {
    name: "lets one of twenty concurrent creates through",
    asks: once,
    run: async (subject: Subject) => {
      for (const ref of both) await race(subject, ref, "absent", writers(subject, ref, ABSENT))
    },
  },
  {
    name: "lets one of twenty concurrent writers of a generation through",
    asks: once,
    run: async (subject: Subject) => {
      for (const ref of both) {
        const first = await subject.write(ref, ABSENT, "first")
        await race(subject, ref, "first", writers(subject, ref, first))
      }
    },
  },
  {
    name: "loses no update of four writers, each with a store object of its own",
    asks: "compare-and-swap holds between all store objects on the same objects",
    run: async (subject: Subject) => {
      const others = await Promise.all([0, 1, 2].map(() => subject.another()))
      try {
        for (const other of others) await other.start()
        await subject.write(lease, ABSENT, "")
        const all = [subject, ...others]
        await Promise.all(all.map((writer, number) => adds(writer, `${number}`)))
        const names = (await subject.text(lease)).split(" ")
        for (const [number] of all.entries())
          for (let round = 0; round < ROUNDS; round++)
            subject.check(names.includes(`${number}.${round}`), `lost update ${round} of writer ${number}`)
      } finally {
        for (const other of others) await other.close()
      }
    },
  },
  {
    name: "tells the truth about a write that its caller gave up: whole or not at all, and never over a later one",
    asks: "a put that is given up settles soon; it says unknown unless it knows what became of it",
    run: async (subject: Subject) => {
      for (const ref of both) await givenUp(subject, ref)
    },
  },
  {
    name: "keeps to the spacing that it declares: says throttled within it, and writes after it",
    asks: "an object may be written again after writeSpacing; a write that comes sooner may be unknown with throttled, and only then",
    run: async (subject: Subject) => {
      const { writeSpacing } = subject.store.capabilities
      subject.check(Number.isFinite(writeSpacing) && writeSpacing >= 0, `declares a writeSpacing of ${writeSpacing}`)
      await Promise.all(both.map((ref) => spaces(subject, ref, writeSpacing)))
    },
  },
]

async function spaces(subject: Subject, ref: ObjectRef, writeSpacing: number): Promise<void> {
  let generation = await subject.write(ref, ABSENT, "first")
  const early = await subject.put(ref, generation, "early")
  const allowed = early.kind === "applied" || (isThrottled(early) && writeSpacing > 0)
  subject.check(allowed, `answered ${told(early)} to a write right after another`)
  generation = await subject.generation(ref)
  await subject.pause(writeSpacing)
  const after = await subject.put(ref, generation, "after")
  subject.check(after.kind === "applied", `answered ${told(after)} to a write after ${writeSpacing} ms`)
}

async function isRefused(subject: Subject, ref: ObjectRef, expected: Generation, what: string): Promise<void> {
  const { kind } = await subject.spaced(() => subject.put(ref, expected, "stale"))
  subject.check(kind === "refused", `answered ${kind} to ${what} (${shown(ref)})`)
}

async function holds(subject: Subject, ref: ObjectRef, text: string): Promise<void> {
  const seen = await subject.text(ref)
  subject.check(seen === text, `holds ${JSON.stringify(seen)} in ${shown(ref)} where ${JSON.stringify(text)} was due`)
}

/** One of many who want the same generation. */
interface Rival {
  /** What the object holds when this one has won. */
  readonly leaves: string
  readonly send: () => Promise<WriteAnswer>
}

const writers = (subject: Subject, ref: ObjectRef, expected: Generation): Rival[] =>
  Array.from({ length: 20 }, (_, writer) => ({
    leaves: `by ${writer}`,
    send: () => subject.put(ref, expected, `by ${writer}`),
  }))

/** All at once; those who can't tell may have won as well, but no two of all. `before`: what the object holds now. */
export async function race(subject: Subject, ref: ObjectRef, before: string, rivals: readonly Rival[]): Promise<void> {
  for (let again = 0; again < 3; again++) {
    const answers = await Promise.all(rivals.map(({ send }) => send()))
    const those = (kind: WriteAnswer["kind"]): string[] =>
      rivals.flatMap(({ leaves }, rival) => (answers[rival]?.kind === kind ? [leaves] : []))
    const [applied, unknown] = [those("applied"), those("unknown")]
    subject.check(applied.length <= 1, `applied ${applied.length} of ${rivals.length} at once on one ${shown(ref)}`)
    const text = await subject.text(ref)
    if (applied.length === 1) return subject.check(text === applied[0], `holds ${text}, and said applied ${applied[0]}`)
    if (unknown.includes(text)) return
    subject.check(text === before, `holds ${text} although no rival of it could have won`)
    subject.check(unknown.length > 0, `refused all ${rivals.length} who wrote at once on one ${shown(ref)}`)
    await subject.pause(subject.store.capabilities.writeSpacing)
  }
  throw subject.refusal(`answered unknown to all who wrote at once on one ${shown(ref)}, three times`)
}

const ROUNDS = 5

/** Adds its names to the list in the object, one by one, each until it is there. */
async function adds(subject: Subject, writer: string): Promise<void> {
  const { writeSpacing } = subject.store.capabilities
  for (let round = 0; round < ROUNDS; round++) {
    for (;;) {
      const seen = await subject.read(lease)
      subject.check(seen.kind === "found", `answered ${told(seen)} for an object that is only ever overwritten`)
      const text = new TextDecoder().decode(seen.body)
      if (text.split(" ").includes(`${writer}.${round}`)) break
      const answer = await subject.put(lease, seen.generation, `${text} ${writer}.${round}`)
      if (answer.kind === "applied") break
      if (isThrottled(answer)) await subject.pause(writeSpacing)
    }
  }
}

/** Gives up before the call, at once after it, and some turns of the event loop later. */
async function givenUp(subject: Subject, ref: ObjectRef): Promise<void> {
  let generation = await subject.write(ref, ABSENT, "0")
  let text = "0"
  for (const turns of [-1, 0, 1, 2, 3, 5, 8]) {
    const attempt = `given up after ${turns} turns`
    const answer = await abandoned(subject, turns, (signal) => subject.put(ref, generation, attempt, { signal }))
    subject.check(answer.kind !== "refused", `answered refused to a given up put whose precondition held`)
    const seen = await subject.text(ref)
    if (answer.kind === "applied") subject.check(seen === attempt, `said applied, and holds ${seen}`)
    subject.check(seen === attempt || seen === text, `holds ${JSON.stringify(seen)} after a put was given up`)
    text = `after ${turns} turns`
    generation = await overwritten(subject, ref, text)
  }
  for (let turn = 0; turn < 10; turn++) await subject.turn()
  await holds(subject, ref, text)
}

/** Writes on whatever is there; what was given up before may still arrive in between, once. */
async function overwritten(subject: Subject, ref: ObjectRef, text: string): Promise<Generation> {
  for (let again = 0; again < 2; again++) {
    const current = await subject.generation(ref)
    const answer = await subject.spaced(() => subject.put(ref, current, text))
    if (answer.kind === "applied") return answer.generation
    subject.check(answer.kind === "refused", `answered ${told(answer)} to a write that nobody gave up`)
  }
  throw subject.refusal(`refused two writes on the generation that it showed of ${shown(ref)}`)
}

/** What `send` answers when its signal is aborted after so many turns of the event loop; -1: before. */
export async function abandoned<A>(
  subject: Subject,
  turns: number,
  send: (signal: AbortSignal) => Promise<A>,
): Promise<A> {
  const patience = new AbortController()
  if (turns < 0) patience.abort()
  const answer = send(patience.signal)
  answer.catch(() => {}) // it is awaited below, after the turns
  for (let turn = 0; turn < turns; turn++) await subject.turn()
  patience.abort()
  return answer
}
