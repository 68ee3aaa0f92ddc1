/** Cases of reads: what an answer holds, and that body and generation belong together. */
import { ABSENT, type Generation, type ReadAnswer } from "../../locks/stores/port.ts"
import { both, bytes, head, lease, shown, type Subject, textOf, told } from "./subject.ts"
import type { Trial } from "./trial.ts"

const VERSIONS = 20

export const reading: readonly Trial[] = [
  {
    name: "answers absent for what was never written, in every area",
    asks: "a read of an object that does not exist answers absent, whatever generation its reader knows",
    run: async (subject: Subject) => {
      for (const ref of [...both, { area: "probe", name: "nobody" } as const]) {
        for (const options of [{}, { known: ABSENT }, { known: "999" }]) {
          const { kind } = await subject.read(ref, options)
          subject.check(kind === "absent", `answered ${kind} for ${shown(ref)}, which was never written`)
        }
      }
    },
  },
  {
    name: "keeps every byte of a body of a megabyte",
    asks: "a read answers the bytes that were written",
    run: async (subject: Subject) => {
      const body = Uint8Array.from({ length: 2 ** 20 }, (_, place) => (place * 31 + (place >> 8)) % 256)
      const { kind } = await subject.store.put(head, ABSENT, body, { deadline: subject.settings.deadline })
      subject.check(kind === "applied", `answered ${kind} to a put of a megabyte`)
      const answer = await subject.read(head, { limit: body.length })
      subject.check(answer.kind === "found", `answered ${answer.kind} for a body that is as long as the limit`)
      subject.check(answer.body.length === body.length, `read ${answer.body.length} bytes of ${body.length}`)
      const wrong = answer.body.findIndex((byte, place) => byte !== body[place])
      subject.check(wrong < 0, `changed the byte at ${wrong}`)
    },
  },
  {
    name: "keeps an empty body apart from no object",
    asks: "an object with an empty body exists",
    run: async (subject: Subject) => {
      for (const ref of both) {
        await subject.write(ref, ABSENT, "")
        const answer = await subject.read(ref)
        subject.check(
          answer.kind === "found" && answer.body.length === 0,
          `answered ${answer.kind} for ${shown(ref)}, whose body is empty`,
        )
        const again = await subject.spaced(() => subject.put(ref, ABSENT, "again"))
        subject.check(again.kind === "refused", `answered ${again.kind} to a create of ${shown(ref)}, which exists`)
      }
    },
  },
  {
    name: "keeps its own copy of a body: what a caller does to it later changes nothing",
    asks: "bodies are not shared between the store and its callers",
    run: async (subject: Subject) => {
      for (const ref of both) {
        const body = bytes("as it was")
        const { kind } = await subject.store.put(ref, ABSENT, body, { deadline: subject.settings.deadline })
        subject.check(kind === "applied", `answered ${kind} to a create`)
        body.fill(0)
        const answer = await subject.read(ref)
        if (answer.kind === "found") answer.body.fill(0)
        const text = await subject.text(ref)
        subject.check(text === "as it was", `holds ${JSON.stringify(text)} after its callers overwrote their arrays`)
      }
    },
  },
  {
    name: "answers unchanged for no generation but the one that the object has",
    asks: "unchanged (or found) is the answer where the object still has the generation that the reader knows, else found",
    run: async (subject: Subject) => {
      for (const ref of both) {
        const first = await subject.write(ref, ABSENT, "first")
        isCurrent(subject, await subject.read(ref, { known: first }), first, ["unchanged", "found"])
        const second = await subject.write(ref, first, "second")
        for (const known of [first, "999", "not a generation", ABSENT])
          isCurrent(subject, await subject.read(ref, { known }), second, ["found"])
        isCurrent(subject, await subject.read(ref, { known: second }), second, ["unchanged", "found"])
      }
    },
  },
  {
    name: "answers tooLarge for a body over the limit, with its generation, and found at the limit",
    asks: "bodies larger than the limit, and only they, come back as tooLarge",
    run: async (subject: Subject) => {
      for (const ref of both) {
        const generation = await subject.write(ref, ABSENT, "12345")
        isCurrent(subject, await subject.read(ref, { limit: 4 }), generation, ["tooLarge"])
        isCurrent(subject, await subject.read(ref, { limit: 5 }), generation, ["found"])
      }
    },
  },
  {
    name: "reads body and generation of one version while others write",
    asks: "body and generation of an answer belong to one version",
    run: (subject) => whileWriting(subject, (_seen, _before) => undefined),
  },
  {
    name: "never goes back to an older version than one it has shown",
    asks: "a read never answers a version older than one that this process was already shown",
    run: (subject) =>
      whileWriting(subject, (seen, before) =>
        seen < before ? `read version ${seen} after it had shown version ${before}` : undefined,
      ),
  },
  {
    name: "tells the time as its capabilities say",
    asks: "storeTime is absent where the clock is none, whole seconds where it is coarse, and Unix milliseconds",
    run: async (subject: Subject) => {
      const generation = await subject.write(lease, ABSENT, "timed")
      const answers = [
        await subject.read(lease),
        await subject.read({ area: "leases", name: "nobody" }),
        await subject.spaced(() => subject.put(lease, generation, "timed again")),
        await subject.put(lease, ABSENT, "refused"),
      ]
      for (const { kind, storeTime } of answers) isTime(subject, kind, storeTime)
    },
  },
]

function isCurrent(subject: Subject, answer: ReadAnswer, generation: Generation, kinds: readonly string[]): void {
  subject.check(kinds.includes(answer.kind), `answered ${answer.kind} where ${kinds.join(" or ")} was due`)
  if ("generation" in answer)
    subject.check(answer.generation === generation, `answered the generation ${answer.generation}, not ${generation}`)
}

function isTime(subject: Subject, kind: string, time: number | undefined): void {
  const { clock } = subject.store.capabilities
  if (time === undefined) return
  subject.check(clock !== "none", `stamped an answer (${kind}), though it declares no clock`)
  subject.check(Number.isFinite(time) && time >= 0, `stamped an answer (${kind}) with ${time}`)
  subject.check(clock !== "coarse" || time % 1000 === 0, `stamped an answer (${kind}) with ${time}, no whole second`)
}

/** A writer makes one version after another while two read; `judge` says what is wrong with the order of versions. */
async function whileWriting(
  subject: Subject,
  judge: (seen: number, before: number) => string | undefined,
): Promise<void> {
  for (const ref of both) {
    const written = [await subject.write(ref, ABSENT, "0")]
    let done = false
    let newest = 0
    const seen: { version: number; generation: Generation }[] = []
    const read = async (): Promise<void> => {
      const before = newest
      const answer = await subject.read(ref)
      subject.check(answer.kind === "found", `answered ${told(answer)} for an object that is only ever overwritten`)
      const version = Number(textOf(answer.body))
      const wrong = judge(version, before)
      subject.check(wrong === undefined, wrong ?? "")
      newest = Math.max(newest, version)
      seen.push({ version, generation: answer.generation })
    }
    const reader = async (): Promise<void> => {
      while (!done) {
        await read()
        await subject.turn()
      }
    }
    const writer = async (): Promise<void> => {
      try {
        for (let version = 1; version < versions(subject); version++) {
          written.push(await subject.write(ref, written.at(-1) ?? ABSENT, String(version)))
          newest = Math.max(newest, version)
          await read()
        }
      } finally {
        done = true
      }
    }
    await Promise.all([writer(), reader(), reader()])
    const torn = seen.find(({ version, generation }) => written[version] !== generation)
    subject.check(
      torn === undefined,
      `read the body of version ${torn?.version} of ${shown(ref)} with the generation of another`,
    )
  }
}

/** Fewer where each write may have to wait. */
const versions = (subject: Subject): number => (subject.store.capabilities.writeSpacing > 0 ? 5 : VERSIONS)
