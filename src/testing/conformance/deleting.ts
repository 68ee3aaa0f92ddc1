/**
 * Cases of deletes, for stores that declare that these honour their precondition; and that no generation comes twice.
 */
import { ABSENT, type Generation } from "../../locks/stores/port.ts"
import { both, shown, strayGenerations, type Subject } from "./subject.ts"
import type { Trial } from "./trial.ts"
import { race } from "./writing.ts"

const asks = "remove deletes if the object's generation is the expected one, and else is refused"
const when: NonNullable<Trial["when"]> = ({ deletes }) => deletes

export const deleting: readonly Trial[] = [
  {
    name: "declares of deletes what the suite was told",
    asks: "capabilities.deletes says whether deletes honour their precondition; `conformance` takes true unless told otherwise",
    run: async (subject: Subject) => {
      const { deletes } = subject.store.capabilities
      subject.check(deletes === subject.settings.deletes, `declares deletes: ${deletes}`)
    },
  },
  {
    name: "deletes on the newest generation only",
    asks,
    when,
    run: async (subject: Subject) => {
      for (const ref of both) {
        const first = await subject.write(ref, ABSENT, "first")
        const second = await subject.write(ref, first, "second")
        for (const stale of [ABSENT, first, ...strayGenerations]) {
          const { kind } = await subject.remove(ref, stale)
          subject.check(kind === "refused", `answered ${kind} to a delete on ${stale}, which is not the newest`)
        }
        const text = await subject.text(ref)
        subject.check(text === "second", `holds ${JSON.stringify(text)} after deletes that it refused`)
        const answer = await subject.spaced(() => subject.remove(ref, second))
        const applied = answer.kind === "applied" && answer.generation === second
        subject.check(applied, `answered ${JSON.stringify(answer)} to a delete on the newest generation ${second}`)
        const left = await subject.text(ref)
        subject.check(left === "absent", `answers ${left} for ${shown(ref)}, which it said was deleted`)
      }
    },
  },
  {
    name: "refuses to delete what is absent or deleted",
    asks,
    when,
    run: async (subject: Subject) => {
      for (const ref of both) {
        await nothingToDelete(subject, [ABSENT, "1"])
        const first = await subject.write(ref, ABSENT, "first")
        await subject.spaced(() => subject.remove(ref, first))
        await nothingToDelete(subject, [ABSENT, first])
      }
    },
  },
  {
    name: "lets one through where ten deletes and ten writes of a generation come at once",
    asks: "of all who write or delete on one generation, one is applied",
    when,
    run: async (subject: Subject) => {
      for (const ref of both) {
        const first = await subject.write(ref, ABSENT, "first")
        const rivals = Array.from({ length: 20 }, (_, rival) =>
          rival % 2 === 0
            ? { leaves: "absent", send: () => subject.remove(ref, first) }
            : { leaves: `by ${rival}`, send: () => subject.put(ref, first, `by ${rival}`) },
        )
        await race(subject, ref, "first", rivals)
      }
    },
  },
  {
    name: "never repeats a generation, neither of an object nor of one that was deleted",
    asks: "a generation is the identity of one version: no later version of the object has it, also after deletes",
    run: async (subject: Subject) => {
      for (const ref of both) {
        const generations: Generation[] = []
        let last = ABSENT
        for (let version = 0; version < 8; version++) {
          last = await subject.write(ref, last, `version ${version}`)
          generations.push(last)
          if (version % 2 === 0 || !subject.settings.deletes) continue
          await subject.spaced(() => subject.remove(ref, last))
          last = ABSENT
        }
        const distinct = new Set(generations).size
        subject.check(distinct === 8, `gave 8 versions of ${shown(ref)} the generations ${generations.join(", ")}`)
        for (const old of generations.filter((generation) => generation !== last)) {
          const { kind } = await subject.spaced(() => subject.put(ref, old, "from a former life"))
          subject.check(kind === "refused", `answered ${kind} to a put on ${old}, which is over`)
        }
      }
    },
  },
]

async function nothingToDelete(subject: Subject, generations: readonly Generation[]): Promise<void> {
  for (const ref of both) {
    for (const generation of generations) {
      const { kind } = await subject.remove(ref, generation)
      subject.check(kind === "refused", `answered ${kind} to a delete on ${generation} of what does not exist`)
    }
  }
}
