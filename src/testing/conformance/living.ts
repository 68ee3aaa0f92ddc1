/**
 * Cases of a store's life: before its start, deadlines, callers who give up, silence, its close, and what outlives it.
 */
import { ABSENT, type Area } from "../../locks/stores/port.ts"
import { both, lease, said, type Subject } from "./subject.ts"
import type { Trial } from "./trial.ts"
import { abandoned } from "./writing.ts"

export const living: readonly Trial[] = [
  {
    name: "never rejects a read or a write, also before its start and after its close",
    asks: "read, put and remove never reject: they say failed, unknown or what they saw",
    raw: true,
    run: async (subject: Subject) => {
      await everyWrite(subject)
      await subject.start()
      await subject.close()
      await everyWrite(subject)
    },
  },
  {
    name: "starts as often as it is asked to, and leaves nothing where others look",
    asks: "start makes ready and probes once; its scratch object is not under leases or state",
    raw: true,
    run: async (subject: Subject) => {
      await Promise.all([subject.start(), subject.start()])
      await subject.start()
      for (const area of ["leases", "state"] satisfies Area[]) {
        const names = await subject.names(area, "")
        subject.check(names.length === 0, `holds ${names.join(", ")} under ${area} after its start`)
      }
    },
  },
  {
    name: "has capabilities that no longer change once it has started",
    asks: "capabilities are fixed for the life of the store object, once start has settled",
    run: async (subject: Subject) => {
      const before = JSON.stringify(subject.store.capabilities)
      await subject.write(lease, ABSENT, "first")
      await subject.names("leases", "")
      const after = JSON.stringify(subject.store.capabilities)
      subject.check(before === after, `declared ${before} after its start, and ${after} later`)
    },
  },
  {
    name: "has the same name in every store object of a place",
    asks: "name is the same in every process",
    run: async (subject: Subject) => {
      const other = await subject.another()
      const names = [subject.store.name, other.store.name]
      await other.close()
      subject.check(names[0] !== "" && names[0] === names[1], `is named ${names.join(" and ")}`)
    },
  },
  {
    name: "settles every call whose budget is nothing, and goes on afterwards",
    asks: "each request ends by its deadline",
    run: async (subject: Subject) => {
      await everyCall(subject, { deadline: 0 })
      await goesOn(subject)
    },
  },
  {
    name: "settles every call that its caller gives up, and goes on afterwards",
    asks: "an aborted request settles soon",
    run: async (subject: Subject) => {
      const patient = subject.settings.deadline * 100 // so that what ends it is the signal
      for (const turns of [-1, 0, 2])
        await inTime(
          subject,
          abandoned(subject, turns, (signal) => everyCall(subject, { deadline: patient, signal })),
        )
      await goesOn(subject)
    },
  },
  {
    name: "settles every call by its deadline though nothing answers, and says that it learned nothing",
    asks: "each request ends by its deadline, whatever the network does; then it is failed or unknown, and a list rejects",
    when: ({ silence }) => silence !== undefined,
    run: async (subject: Subject) => {
      const { deadline, grace, silence } = subject.settings
      await subject.write(lease, ABSENT, "before the silence")
      await silence?.(subject.place)
      const kinds = await everyCall(subject, { deadline: Math.min(deadline, grace) / 10 })
      const due = "failed unknown unknown rejected"
      subject.check(kinds.join(" ") === due, `answered ${kinds.join(", ")} though nothing answered it`)
    },
  },
  {
    name: "settles every call that is given up though nothing answers",
    asks: "an aborted request settles soon, with failed or unknown, and a list rejects",
    when: ({ silence }) => silence !== undefined,
    run: async (subject: Subject) => {
      const { deadline, silence } = subject.settings
      await silence?.(subject.place)
      const call = (signal: AbortSignal): Promise<string[]> => everyCall(subject, { deadline: deadline * 100, signal })
      const kinds = await inTime(subject, abandoned(subject, 2, call))
      subject.check(kinds.join(" ") === "failed unknown unknown rejected", `answered ${kinds.join(", ")}`)
    },
  },
  {
    name: "closes as often as it is asked to",
    asks: "close is idempotent",
    run: async (subject: Subject) => {
      await Promise.all([subject.close(), subject.close()])
      await subject.close()
    },
  },
  {
    name: "keeps what it acknowledged for the next store object of the place, generations included",
    asks: "what is acknowledged outlives the store object; close closes only what the store itself opened",
    run: async (subject: Subject) => {
      const written = new Map<string, string>()
      for (const ref of both) written.set(ref.area, await subject.write(ref, ABSENT, `kept in ${ref.area}`))
      await subject.close()
      const next: Subject = await subject.another()
      await next.start()
      try {
        for (const ref of both) {
          const answer = await next.read(ref)
          const text = answer.kind === "found" ? new TextDecoder().decode(answer.body) : answer.kind
          next.check(text === `kept in ${ref.area}`, `holds ${JSON.stringify(text)} in ${ref.area} after a restart`)
          const generation = await next.generation(ref)
          next.check(generation === written.get(ref.area), `changed the generation of ${ref.area} in a restart`)
        }
      } finally {
        await next.close()
      }
    },
  },
]

/** Only that they settle: the subject sees to it that they don't reject. */
async function everyWrite(subject: Subject): Promise<void> {
  await subject.read(lease)
  const answer = await subject.put({ area: "leases", name: "early" }, ABSENT, "early")
  await subject.remove({ area: "leases", name: "early" }, answer.kind === "applied" ? answer.generation : "1")
}

/** A read, a put, a delete and a list at once: what each came to. None of them is on a generation that is there. */
async function everyCall(
  subject: Subject,
  options: { readonly deadline: number; readonly signal?: AbortSignal },
): Promise<string[]> {
  const listed = subject.listOrReject("leases", options).then(
    () => "listed",
    (error: unknown) => {
      if (said(error).startsWith("ConformanceError")) throw error
      return "rejected"
    },
  )
  const answers = await Promise.all([
    subject.read(lease, options),
    subject.put(lease, "999", "stale", options),
    subject.remove(lease, "999", options),
  ])
  return [...answers.map(({ kind }) => kind), await listed]
}

/** What was given up must settle long before its own deadline. */
async function inTime<A>(subject: Subject, work: Promise<A>): Promise<A> {
  const { clock, grace } = subject.settings
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = clock.after(grace, () =>
    reject(subject.refusal(`did not settle a call within ${grace} ms of its abort`)),
  )
  try {
    return await Promise.race([work, late])
  } finally {
    timer.cancel()
  }
}

async function goesOn(subject: Subject): Promise<void> {
  await subject.write(lease, await subject.generation(lease), "and on")
  const text = await subject.text(lease)
  subject.check(text === "and on", `holds ${JSON.stringify(text)} after calls that were given up`)
}
