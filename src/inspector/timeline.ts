/**
 * A trace as one page of HTML that needs nothing else: a lane for each worker with the states of its sandboxes and their
 * tokens, requests with what came of them, faults across, and the violation, if there is one. Below it the lines, to read.
 *
 * Not promised: that a long trace is quick to look at. Give the part that matters.
 */
import { aNumber, aText, type OptionChecks, refuseUnknown } from "../runtime/options.ts"
import { lineText, stateText } from "../trace/line-text.ts"
import { aTrace, isTraceLine } from "../trace/trace-text.ts"
import type { AnswerLine, FaultLine, RequestLine, StateLine, Trace, TraceLine } from "../trace/trace.ts"
import { timelineStyle } from "./timeline-style.ts"

/** What is marked on the page. */
export interface TimelineMark {
  /** When, in Unix milliseconds of the trace. */
  readonly at: number
  /** What it is. */
  readonly message: string
}

/** How the page is made. */
export interface TimelineOptions {
  /** Its heading. Default: the trace's seed. */
  readonly title?: string
  /** What went wrong, and when. */
  readonly violation?: TimelineMark
}

/** How many pixels wide the drawing is, and how high a bar. */
const WIDTH = 1100
const LEFT = 90
const BAR = 22
const SIGNS = 26
/** Of a worker with so many requests the writes alone are drawn. */
const CROWD = 400

/** A violation is one, with more that it knows. */
const aMark = (name: string, value: unknown): void => {
  const { at, message } = Object(value) as Partial<TimelineMark>
  aNumber(`${name}.at`, at)
  aText(`${name}.message`, message)
}
const OPTIONS: OptionChecks<TimelineOptions> = {
  title: aText,
  violation: aMark,
}

/** The page. Throws InvalidConfigError. */
export function timelineHtml(trace: Trace, options: TimelineOptions = {}): string {
  aTrace("the trace", trace)
  refuseUnknown("timelineHtml", options, OPTIONS)
  const lines = trace.lines.filter(isTraceLine)
  const { violation, title = `seed ${trace.header.seed ?? "-"}` } = options
  const drawing = new Drawing(lines, violation)
  return [
    `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>${text(title)}</title>`,
    `<meta name="viewport" content="width=device-width">\n<style>${timelineStyle}</style>\n</head>\n<body>`,
    `<h1>${text(title)}</h1>`,
    `<p>${trace.header.source}, commit ${text(trace.header.commit ?? "unknown")}, ${lines.length} lines</p>`,
    violation === undefined ? "" : `<p class="violation" role="alert">${text(violation.message)}</p>`,
    drawing.svg(),
    legend,
    tableOf(lines, drawing.from, violation),
    "</body>\n</html>\n",
  ].join("\n")
}

const legend = `<p class="legend">Bars are states of a sandbox; dots above them are requests (full: the store answered that it
took effect or what it saw; hollow: refused; red: nobody knows). Red lines are faults. Point at anything to read it.</p>`

/** One sandbox of one worker. */
interface Lane {
  readonly worker: string
  readonly key: string
  readonly states: readonly StateLine[]
}

class Drawing {
  readonly from: number
  readonly #to: number
  readonly #lines: readonly TraceLine[]
  readonly #violation: TimelineMark | undefined
  readonly #workers: readonly string[]
  readonly #lanes: readonly Lane[]

  constructor(lines: readonly TraceLine[], violation: TimelineMark | undefined) {
    this.from = lines[0]?.at ?? 0
    this.#to = Math.max(this.from + 1, lines.at(-1)?.at ?? 0)
    this.#lines = lines
    this.#violation = violation
    this.#workers = [...new Set(lines.flatMap(({ worker }) => (worker === null ? [] : [worker])))].sort()
    this.#lanes = this.#workers.flatMap((worker) => lanesOf(worker, lines))
  }

  svg(): string {
    let y = 20
    const parts: string[] = []
    for (const worker of this.#workers) {
      const mine = this.#lanes.filter((lane) => lane.worker === worker)
      const height = SIGNS + Math.max(1, mine.length) * (BAR + 4)
      parts.push(`<text class="worker" x="4" y="${y + SIGNS - 8}">${text(worker)}</text>`)
      parts.push(this.#requests(worker, y + SIGNS / 2))
      mine.forEach((lane, index) => parts.push(this.#bars(lane, y + SIGNS + index * (BAR + 4))))
      parts.push(this.#faults(worker, y, height))
      y += height + 14
    }
    parts.push(this.#faults(null, 20, y - 20), this.#mark(y), this.#axis(y))
    const label = `timeline of ${this.#workers.length} workers`
    return `<svg viewBox="0 0 ${WIDTH} ${y + 30}" role="img" aria-label="${label}">${parts.join("\n")}</svg>`
  }

  #x(at: number): number {
    return Math.round((LEFT + ((at - this.from) / (this.#to - this.from)) * (WIDTH - LEFT - 10)) * 10) / 10
  }

  #bars({ key, states }: Lane, y: number): string {
    const bars = states.map((state, index) => {
      const [x, end] = [this.#x(state.at), this.#x(states[index + 1]?.at ?? this.#to)]
      const name = stateText(state)
      const isOver = name.startsWith("released") && index === states.length - 1
      const width = isOver ? 3 : Math.max(1, end - x)
      const token = state.token === null ? "" : ` token ${state.token}`
      const hint = `<title>${text(`${key} ${name}${token}`)}</title>`
      const words = width > 60 ? `<text x="${x + 4}" y="${y + 15}">${text(name.slice(0, width / 7))}</text>` : ""
      return `<g><rect class="${name.split(":")[0]}" x="${x}" y="${y}" width="${width}" height="${BAR}">${hint}</rect>${words}</g>`
    })
    return `<text class="key" x="${LEFT - 6}" y="${y + 15}">${text(key.slice(-11))}</text>${bars.join("")}`
  }

  #requests(worker: string, y: number): string {
    const requests = this.#lines.filter(
      (line): line is RequestLine => line.kind === "request" && line.worker === worker,
    )
    const answers = new Map(
      this.#lines.flatMap((line): [number, AnswerLine][] => (line.kind === "answer" ? [[line.id, line]] : [])),
    )
    return requests
      .filter(({ op }) => op !== "read" || requests.length < CROWD)
      .map((request) => {
        const answer = answers.get(request.id)
        const end = this.#x(answer?.at ?? request.at)
        const x = this.#x(request.at)
        const hint = `${lineText(request)} ${answer === undefined ? "no answer" : lineText(answer)}`
        const line = end > x + 2 ? `<line class="wire" x1="${x}" y1="${y}" x2="${end}" y2="${y}"/>` : ""
        return `<g class="request ${fateOf(answer)}"><title>${text(hint)}</title>${line}<circle cx="${x}" cy="${y}" r="${request.op === "read" ? 2 : 3.5}"/></g>`
      })
      .join("")
  }

  #faults(worker: string | null, y: number, height: number): string {
    return this.#lines
      .filter((line): line is FaultLine => line.kind === "fault" && line.worker === worker && line.fault !== "clock")
      .map((line) => {
        const x = this.#x(line.at)
        const hint = `<title>${text(lineText(line))}</title>`
        return `<g class="fault"><line x1="${x}" y1="${y}" x2="${x}" y2="${y + height}"/><circle cx="${x}" cy="${y + 4}" r="4">${hint}</circle></g>`
      })
      .join("")
  }

  #mark(height: number): string {
    if (this.#violation === undefined) return ""
    const x = this.#x(this.#violation.at)
    const hint = `<title>${text(this.#violation.message)}</title>`
    return `<g class="mark"><line x1="${x}" y1="8" x2="${x}" y2="${height}"/><path d="M${x - 6} 2h12l-6 10z">${hint}</path></g>`
  }

  #axis(y: number): string {
    const step = stepOf(this.#to - this.from)
    const ticks: string[] = []
    for (let ms = 0; ms <= this.#to - this.from; ms += step) {
      const x = this.#x(this.from + ms)
      ticks.push(`<line class="tick" x1="${x}" y1="${y}" x2="${x}" y2="${y + 5}"/>`)
      ticks.push(`<text class="time" x="${x}" y="${y + 18}">${ms / 1000} s</text>`)
    }
    return ticks.join("")
  }
}

function lanesOf(worker: string, lines: readonly TraceLine[]): readonly Lane[] {
  const lanes = new Map<string, StateLine[]>()
  for (const line of lines) {
    if (line.kind !== "state" || line.worker !== worker) continue
    const states = lanes.get(line.key) ?? []
    states.push(line)
    lanes.set(line.key, states)
  }
  return [...lanes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, states]) => ({ worker, key, states }))
}

function fateOf(answer: AnswerLine | undefined): "sure" | "refused" | "unknown" {
  if (answer === undefined || ["unknown", "failed", "rejected"].includes(answer.outcome)) return "unknown"
  return answer.outcome === "refused" ? "refused" : "sure"
}

/** About ten ticks, at round times. */
function stepOf(span: number): number {
  const wanted = span / 10
  return [100, 500, 1000, 5000, 10_000, 30_000, 60_000, 300_000, 3_600_000].find((step) => step >= wanted) ?? 86_400_000
}

function tableOf(lines: readonly TraceLine[], from: number, violation: TimelineMark | undefined): string {
  const near = violation === undefined ? lines : lines.filter(({ at }) => Math.abs(at - violation.at) <= 120_000)
  const rows = near.slice(-2000).map((line) => {
    const key = "key" in line && line.key !== undefined ? line.key : ""
    const cells = [String(Math.round(line.at - from)), line.worker ?? "", key, lineText(line)]
    return `<tr class="${line.kind}">${cells.map((cell) => `<td>${text(cell)}</td>`).join("")}</tr>`
  })
  const head = `<tr><th scope="col">ms</th><th scope="col">worker</th><th scope="col">key</th><th scope="col">what</th></tr>`
  return `<details${violation === undefined ? "" : " open"}><summary>${rows.length} lines</summary><table><thead>${head}</thead><tbody>${rows.join("\n")}</tbody></table></details>`
}

/** Text as HTML shows it. */
function text(plain: string): string {
  const names: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }
  return plain.replaceAll(/[&<>"]/g, (sign) => names[sign]!)
}
