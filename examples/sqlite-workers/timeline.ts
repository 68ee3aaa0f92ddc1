// The timeline of the job: what the driver does and what the workers report, in the order of the host's time, one line
// each, aligned. Reports of two processes arrive out of order by a little, so lines are held back for a moment.
import { hostNow } from "./act-log.ts"
import type { LeaseNews, Report } from "./reports.ts"

const HOLD_BACK_MS = 150

interface Entry {
  readonly at: number
  readonly who: string
  readonly report?: Report
  readonly text?: string
}

export class Timeline implements Disposable {
  readonly #print: (line: string) => void
  readonly #start = hostNow()
  readonly #ticking: NodeJS.Timeout
  readonly #states = new Map<string, string>()
  /** The workers' names by the ids that they have in records. */
  readonly #names = new Map<string, string>()
  #entries: Entry[] = []
  #owner = "-"
  #token = "-"

  constructor(print: (line: string) => void) {
    this.#print = print
    this.#ticking = setInterval(() => this.#show(hostNow() - HOLD_BACK_MS), HOLD_BACK_MS / 3)
    print(row("ms", "who", "its state", "owner", "token", "what happens"))
  }

  /** What the driver does or sees. */
  say(text: string): void {
    this.#entries.push({ at: hostNow(), who: "driver", text })
  }

  /** What a worker reports. */
  report(who: string, report: Report): void {
    this.#entries.push({ at: report.at, who, report })
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
    for (const { at, who, text, report } of due) {
      const what = text ?? this.#take(who, report!)
      const state = this.#states.get(who) ?? ""
      this.#print(row(String(Math.round(at - this.#start)), who, state, this.#owner, this.#token, what))
    }
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
        this.#states.set(who, report.state)
        return ""
      case "lease":
        this.#names.set(report.ownerId, who)
        this.#own(who, report)
        return this.#leaseText(report)
    }
  }

  /** Whose it is by the word of those who had it: of the killed until another says that it is its own. */
  #own(who: string, { type, token, peerId, detail }: LeaseNews): void {
    if (type === "Acquired") [this.#owner, this.#token] = [who, String(token)]
    if (this.#owner !== who) return
    if (type === "Granted") this.#owner = detail === "grant" ? this.#name(peerId) : "-"
    if (type === "Released" || type === "Lost") this.#owner = "-"
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
      default:
        return type.toLowerCase()
    }
  }

  #name(id: string | undefined): string {
    return (id !== undefined && this.#names.get(id)) || "another process"
  }
}

function row(ms: string, who: string, state: string, owner: string, token: string, what: string): string {
  const columns = [ms.padStart(6), who.padEnd(6), state.padEnd(24), owner.padEnd(5), token.padEnd(13), what]
  return columns.join("  ").trimEnd()
}
