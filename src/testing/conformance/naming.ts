/** Cases of names and lists: every name is an object of its own, and a list shows all of them once. */
import { encodeName } from "../../locks/api/keys.ts"
import { ABSENT, type Area, type Generation, type ObjectRef } from "../../locks/stores/port.ts"
import { both, type Subject } from "./subject.ts"
import type { Trial } from "./trial.ts"

const alike = [
  "a",
  "a=2fb",
  "a_b",
  "a=252fb",
  "=41=2f=42",
  "a-b",
  "a.b",
  "a~b",
  "ab",
  "a=2e",
  "=2e=2e",
  "0000000000000001",
]

/** Keys that some encodings mix up, lose or let out of their area. */
const keys = [
  "A",
  "a",
  "ü",
  "a/b",
  "a%2Fb",
  "..a",
  " ",
  "con",
  "a?b#c&d=e+f",
  "日本",
  "x".repeat(400),
  `${"x".repeat(400)}y`,
]

export const naming: readonly Trial[] = [
  {
    name: "stores names that look alike as objects of their own",
    asks: "two names are two objects, and a list gives each name as it was written",
    run: async (subject: Subject) => {
      await keepsApart(subject, "leases", alike)
    },
  },
  {
    name: "stores the name of every key, the longest ones and those with slashes too",
    asks: "a name is up to 180 characters of [a-z0-9._~=-], in `state` with `/` between its parts",
    run: async (subject: Subject) => {
      const names = keys.map(encodeName)
      await keepsApart(subject, "leases", names)
      await keepsApart(
        subject,
        "state",
        names.flatMap((name) => [`${name}/head`, `${name}/17-1-abc`]),
      )
    },
  },
  {
    name: "keeps its areas apart",
    asks: "keys can't reach from one area into another",
    run: async (subject: Subject) => {
      const names = { leases: "same", state: "same/same", probe: "same", store: "same" } satisfies Record<Area, string>
      for (const { area, name } of refsOf(names)) {
        const before = await subject.generation({ area, name })
        subject.check(before === ABSENT, `shows in ${area} what was written in another area`)
        await subject.write({ area, name }, ABSENT, area)
      }
      for (const { area, name } of refsOf(names)) {
        const text = await subject.text({ area, name })
        subject.check(text === area, `holds ${JSON.stringify(text)} in ${area}`)
        await isListed(subject, area, "", [name])
      }
    },
  },
  {
    name: "lists by prefix, with the generations of reads",
    asks: "list gives the names that begin with the prefix, each with its generation",
    run: async (subject: Subject) => {
      const all = ["a-b/head", "a.b/head", "a/17-1-x", "a/head", "ab/head", "b/head"]
      const generations = new Map<string, Generation>()
      for (const name of all) generations.set(name, await subject.write({ area: "state", name }, ABSENT, "1"))
      generations.set(
        "a/head",
        await subject.write({ area: "state", name: "a/head" }, generations.get("a/head") ?? "", "2"),
      )
      for (const prefix of ["", "a", "a/", "a/17", "b/head", "c", "head"])
        await isListed(
          subject,
          "state",
          prefix,
          all.filter((name) => name.startsWith(prefix)),
        )
      for (const { name, generation } of (await subject.list("state")).items)
        subject.check(
          generation === generations.get(name),
          `lists ${name} with the generation ${generation}, not ${generations.get(name)}`,
        )
    },
  },
  {
    name: "lists nothing that was deleted",
    asks: "list gives the objects that exist",
    when: ({ deletes }) => deletes,
    run: async (subject: Subject) => {
      for (const ref of both) {
        const generation = await subject.write(ref, ABSENT, "1")
        const stays = { area: ref.area, name: ref.name.replace("user-42", "user-420") }
        await subject.write(stays, ABSENT, "1")
        await subject.spaced(() => subject.remove(ref, generation))
        await isListed(subject, ref.area, "user-42", [stays.name])
      }
    },
  },
  {
    name: "lists more than a page holds, each name once, and goes on where a listed name was deleted meanwhile",
    asks: "next continues after its page; the page without next is the last; each object comes once",
    run: async (subject: Subject) => {
      const many = Array.from({ length: subject.settings.names }, (_, number) => `n${String(number).padStart(5, "0")}`)
      const generations = await created(subject, many)
      const found: string[] = []
      for await (const { items, next } of subject.pages("leases", "n")) {
        found.push(...items.map(({ name }) => name))
        const last = items.at(-1)?.name
        if (next === undefined || last === undefined || !subject.settings.deletes) continue
        await subject.remove({ area: "leases", name: last }, generations.get(last) ?? ABSENT)
      }
      same(subject, found, many, "n")
    },
  },
]

function refsOf(names: Readonly<Record<Area, string>>): ObjectRef[] {
  return Object.entries(names).map(([area, name]) => ({ area: area as Area, name }))
}

async function keepsApart(subject: Subject, area: Area, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const answer = await subject.spaced(() => subject.put({ area, name }, ABSENT, name))
    subject.check(
      answer.kind === "applied",
      `answered ${answer.kind} to the create of ${area}/${name}, the first of it`,
    )
  }
  for (const name of names) {
    const text = await subject.text({ area, name })
    subject.check(text === name, `holds ${JSON.stringify(text)} under the name ${name}`)
  }
  await isListed(subject, area, "", names)
}

async function isListed(subject: Subject, area: Area, prefix: string, due: readonly string[]): Promise<void> {
  same(subject, await subject.names(area, prefix), due, prefix)
}

function same(subject: Subject, found: readonly string[], due: readonly string[], prefix: string): void {
  const names = new Set(found)
  subject.check(names.size === found.length, `lists ${found.length - names.size} names of ${prefix} more than once`)
  const missing = due.filter((name) => !names.has(name))
  subject.check(missing.length === 0, `leaves out ${some(missing)} of the prefix ${JSON.stringify(prefix)}`)
  const more = found.filter((name) => !due.includes(name))
  subject.check(more.length === 0, `lists ${some(more)}, which the prefix ${JSON.stringify(prefix)} does not have`)
}

const some = (names: readonly string[]): string =>
  `${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`

/** Writes them all, a hundred at a time. */
async function created(subject: Subject, names: readonly string[]): Promise<Map<string, Generation>> {
  const generations = new Map<string, Generation>()
  for (let from = 0; from < names.length; from += 100) {
    await Promise.all(
      names.slice(from, from + 100).map(async (name) => {
        generations.set(name, await subject.write({ area: "leases", name }, ABSENT, "1"))
      }),
    )
  }
  return generations
}
