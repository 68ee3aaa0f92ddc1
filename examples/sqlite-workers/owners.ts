// How many owned a key at once, and what else the act log shows against them: a pure function of the log.
//
// An owner is a process under a token. It counts from the start of its first act to the end of its last one, so that a
// former owner that acts again counts all through. An act without an end was cut short by a kill: it counts until the
// process was seen dead. Not promised: to see an owner that never acts.
import type { ActLine } from "./act-log.ts"

export interface Verdict {
  readonly acts: number
  /** Acts without an end. */
  readonly cutShort: number
  /** The most owners that any key had at once; 0 where nobody acted. */
  readonly ownersAtOnce: number
  /** Everything else that must not be. */
  readonly problems: readonly string[]
}

/** One process under one token of one key, and the lines of the log from which and up to which it acted. */
interface Owner {
  readonly process: string
  readonly key: string
  readonly token: number
  readonly from: number
  to: number
}

type Start = Extract<ActLine, { what: "start" }>

/** Judges a log. */
export function judge(lines: readonly ActLine[]): Verdict {
  const trial = new Trial()
  for (const [index, line] of lines.entries()) {
    if (line.what === "start") trial.begin(line, index)
    else if (line.what === "end") trial.end(line.act, index)
    else trial.die(line.process, index)
  }
  return trial.verdict(lines.length)
}

class Trial {
  readonly #owners = new Map<string, Owner>()
  readonly #acts = new Map<string, Owner>()
  readonly #running = new Set<string>()
  readonly #dead = new Set<string>()
  /** Per key, the one with the greatest token so far. */
  readonly #newest = new Map<string, Owner>()
  readonly #problems: string[] = []

  begin({ act, process, key, token }: Start, index: number): void {
    const name = JSON.stringify([key, token, process])
    const owner = this.#owners.get(name) ?? { key, token, process, from: index, to: index }
    this.#owners.set(name, owner)
    if (this.#acts.has(act)) this.#problems.push(`${act} begins twice`)
    if (this.#dead.has(process)) this.#problems.push(`${act} begins after ${process} was seen dead`)
    this.#checkToken(act, owner)
    this.#acts.set(act, owner)
    this.#running.add(act)
  }

  end(act: string, index: number): void {
    if (this.#running.delete(act)) this.#acts.get(act)!.to = index
    else this.#problems.push(`${act} ends without having begun`)
  }

  die(process: string, index: number): void {
    this.#dead.add(process)
    for (const owner of this.#cutShort()) if (owner.process === process) owner.to = index
  }

  verdict(length: number): Verdict {
    for (const owner of this.#cutShort()) if (!this.#dead.has(owner.process)) owner.to = length
    return {
      acts: this.#acts.size,
      cutShort: this.#running.size,
      ownersAtOnce: mostAtOnce([...this.#owners.values()]),
      problems: this.#problems,
    }
  }

  #checkToken(act: string, owner: Owner): void {
    const { key, token, process } = owner
    const newest = this.#newest.get(key) ?? owner
    if (token < newest.token)
      this.#problems.push(`${act} acts on ${key} under token ${token}, after ${newest.process} under ${newest.token}`)
    if (token === newest.token && process !== newest.process)
      this.#problems.push(`${process} acts on ${key} under token ${token}, which is that of ${newest.process}`)
    if (token >= newest.token) this.#newest.set(key, owner)
  }

  #cutShort(): Owner[] {
    return [...this.#running].map((act) => this.#acts.get(act)!)
  }
}

/** The most owners of one key that overlap: at the start of one of them, as every overlap begins with one. */
function mostAtOnce(owners: readonly Owner[]): number {
  const atStartOf = ({ key, from }: Owner): number =>
    owners.filter((other) => other.key === key && other.from <= from && from <= other.to).length
  return Math.max(0, ...owners.map(atStartOf))
}
