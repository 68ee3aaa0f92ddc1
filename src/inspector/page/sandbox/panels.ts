/**
 * Where later kinds of sandboxes show what they have: each panel says for which sandboxes it is, and what it shows. To
 * add one, append it to `sandboxPanels`; they are shown below each other, in this order, in the right column of the
 * screen.
 */
import { html, type TemplateResult } from "lit-html"
import { isTraceLine } from "../../../trace/trace-text.ts"
import type { TraceLine } from "../../../trace/trace.ts"
import type { LiveRow } from "../../live/model/live-row.ts"
import type { SandboxDetail } from "../../live/model/wire.ts"
import { visible } from "../../live/visible.ts"
import { type App, link } from "../frame/app.ts"
import { duration } from "../look/format.ts"
import { lineWords } from "../look/line-words.ts"
import { STATE_WORDS } from "../look/state-words.ts"

/** What a panel may look at. */
export interface PanelContext {
  readonly app: App
  readonly row: LiveRow
  /** What the worker told last; null before it did, and where there is none to ask. */
  readonly detail: SandboxDetail | null
  readonly now: number
}

/** One panel. */
export interface SandboxPanel {
  /** Unique. */
  readonly id: string
  readonly title: string
  /** Whether there is anything to show. */
  isFor(context: PanelContext): boolean
  show(context: PanelContext): TemplateResult
}

/** As many lines as are read at a glance. */
const RECENT = 14

const otherWorkers: SandboxPanel = {
  id: "others",
  title: "The same key elsewhere",
  isFor: ({ app, row }) => app.model.fleet.ofKey(row.key).length > 1,
  show: ({ app, row, now }) => {
    const others = app.model.fleet.ofKey(row.key).filter(({ worker }) => worker !== row.worker)
    return html`<ul class="stack">
      ${others.map(
        ({ worker, key, state, since }) =>
          html`<li>
            ${link(app, { screen: "sandbox", worker, key }, visible(worker, 80))}
            <span class="quiet">${STATE_WORDS[state].name} for ${duration(now - since)}</span>
          </li>`,
      )}
    </ul>`
  },
}

const lastError: SandboxPanel = {
  id: "error",
  title: "Its last error",
  isFor: ({ row }) => row.error !== null,
  show: ({ row }) => html`<p class="problem">${visible(`${row.error?.tag}: ${row.error?.message}`, 1000)}</p>`,
}

const recent: SandboxPanel = {
  id: "recent",
  title: "What happened last",
  isFor: () => true,
  show: ({ app, row, now }) => {
    const lines = recentLines(app, row, now)
    if (lines.length === 0) return html`<p class="quiet">Nothing since this page was opened.</p>`
    return html`<ol class="lines">
        ${lines.map(
          (line) =>
            html`<li class=${"error" in line ? "bad" : ""}>
              <time>${app.model.timeText(line.at)}</time> <span>${lineWords(line)}</span>
            </li>`,
        )}
      </ol>
      <p>${link(app, { screen: "sequence", key: row.key }, "All of it as a sequence")}</p>`
  },
}

/** From the last line on backwards, as far as needed, and no further than a look is quick. */
const LOOKED_AT = 20_000

function recentLines(app: App, { worker, key }: LiveRow, now: number): readonly TraceLine[] {
  const { lines } = app.model.history
  const found: TraceLine[] = []
  for (let at = lines.length - 1; at >= Math.max(0, lines.length - LOOKED_AT) && found.length < RECENT; at--) {
    const line = lines[at]!
    if (isTraceLine(line) && "key" in line && line.key === key && line.worker === worker && line.at <= now)
      found.push(line)
  }
  return found
}

/** All panels, in the order in which they are shown. */
export const sandboxPanels: readonly SandboxPanel[] = [lastError, otherWorkers, recent]
