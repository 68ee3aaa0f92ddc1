// The timeline of the job: what the driver does and what the workers report, in the order of the host's time, one line
// each, aligned. Reports of two processes arrive out of order by a little, so lines are held back for a moment.
import { hostNow } from "./act-log.ts"
import type { LeaseNews, Report } from "./reports.ts"

const HOLD_BACK_MS = 150

/** What is held back: something to print, made when its turn comes. */
interface Entry {
  readonly at: number
  readonly line: () => string
}

export class Timeline implements Disposable {
  readonly #key: string
  readonly #print: (line: string) => void
  readonly #start = hostNow()
  readonly #ticking: ReturnType<typeof setInterval>
  /** Of each worker's sandbox, by both their names. */
  readonly #states = new Map<string, string>()
  readonly #owners = new Map<string, { readonly owner: string; readonly token: string }>()
  /** The workers' names by the ids that they have in records. */
  readonly #names = new Map<string, string>()
  #entries: Entry[] = []

  /** Of the sandbox with this lock key. What happens to others is told with their keys. */
  constructor(key: string, print: (line: string) => void) {
    this.#key = key
    this.#print = print
    this.#ticking = setInterval(() => this.#show(hostNow() - HOLD_BACK_MS), HOLD_BACK_MS / 3)
  }

  /** A new part of the job. */
  part(title: string): void {
    const head = row("ms", "who", "its state", "owner", "token", "what happens")
    this.#entries.push({ at: hostNow(), line: () => `\n${title}\n${head}` })
  }

  /** What the driver does or sees. */
  say(text: string): void {
    const at = hostNow()
    this.#entries.push({ at, line: () => this.#row(at, "driver", this.#key, text) })
  }

  /** What a worker reports. */
  report(who: string, report: Report): void {
    const { at } = report
    const key = "key" in report ? report.key : this.#key
    this.#entries.push({ at, line: () => this.#row(at, who, key, this.#take(who, report)) })
  }

  /** Shows what is still held back. */
  flush(): void {
    this.#show(Infinity)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticking)
    this.flush()
  }

  #show(upTo: number): void {
    const due = this.#entries.filter(({ at }) => at <= upTo).sort((a, b) => a.at - b.at)
    this.#entries = this.#entries.filter(({ at }) => at > upTo)
    for (const { line } of due) this.#print(line())
  }

  #row(at: number, who: string, key: string, text: string): string {
    const { owner = "-", token = "-" } = this.#owners.get(key) ?? {}
    const state = this.#states.get(`${who} ${key}`) ?? ""
    const what = key === this.#key ? text : `[${key}] ${text}`
    return row(String(Math.round(at - this.#start)), who, state, owner, token, what)
  }

  /** Notes what a report changes, and says it. */
  #take(who: string, report: Report): string {
    switch (report.what) {
      case "ready":
        return `serves at ${report.url} on ${report.runtime}`
      case "failed":
        return `failed: ${report.error}`
      case "drained":
        return report.stuck.length === 0
          ? "has drained"
          : `has drained, but these are stuck: ${report.stuck.join(", ")}`
      case "state":
        this.#states.set(`${who} ${report.key}`, report.state)
        return ""
      case "lease":
        this.#names.set(report.ownerId, who)
        this.#own(who, report)
        return this.#leaseText(report)
    }
  }

  /** Whose it is by the word of those who had it: of the killed until another says that it is its own. */
  #own(who: string, { key, type, token, peerId, detail }: LeaseNews): void {
    const { owner, token: last = "-" } = this.#owners.get(key) ?? {}
    if (type === "Acquired") this.#owners.set(key, { owner: who, token: String(token) })
    if (owner !== who) return
    const next = type === "Granted" && detail === "grant" ? this.#name(peerId) : "-"
    if (["Granted", "Released", "Lost"].includes(type)) this.#owners.set(key, { owner: next, token: last })
  }

  #leaseText({ type, peerId, detail }: LeaseNews): string {
    switch (type) {
      case "Waiting":
        return `waits for ${this.#name(peerId)} to hand it over`
      case "Acquired":
        return `owns it (${detail})`
      case "ReleaseRequested":
        return `hears that ${this.#name(peerId)} waits`
      case "Granted":
        return `hands it to ${this.#name(peerId)} (${detail})`
      case "Released":
        return `gave it up (${detail})`
      case "Lost":
        return `lost it: ${detail}`
      case "GaveUp":
        return `gave up: ${detail}`
      case "Renewed":
      case "Recovered":
      case "Degraded":
      case "Suspect":
        return `its lease: ${type.toLowerCase()}`
    }
  }

  #name(id: string | undefined): string {
    return (id !== undefined && this.#names.get(id)) || "another process"
  }
}

function row(ms: string, who: string, state: string, owner: string, token: string, what: string): string {
  const columns = [ms.padStart(6), who.padEnd(6), state.padEnd(25), owner.padEnd(5), token.padEnd(13), what]
  return columns.join("  ").trimEnd()
}
