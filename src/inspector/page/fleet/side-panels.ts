/** Beside the list: what needs attention and why, the workers, and the last errors. */
import { html, nothing, type TemplateResult } from "lit-html"
import type { Attention } from "../../live/model/attention.ts"
import type { FleetError } from "../../live/model/fleet.ts"
import type { WorkerRow } from "../../live/model/wire.ts"
import { visible } from "../../live/visible.ts"
import { type App, link } from "../frame/app.ts"
import { count, duration, plural, rate } from "../look/format.ts"
import { icon } from "../look/icons.ts"
import type { WorkerRates } from "./worker-rates.ts"

/** In characters: a reason is a sentence or two. */
const REASON_LENGTH = 400

/** The latest errors are the ones that one looks for. */
const MOST_ERRORS = 20

/** What is wrong, the worst first. `total` may be more than those that are listed. */
export function attentionPanel(app: App, found: readonly Attention[], total: number): TemplateResult {
  return html`<section class="panel" aria-labelledby="attention-title">
    <h2 id="attention-title">Needs attention <span class="badge ${total > 0 ? "bad" : ""}">${count(total)}</span></h2>
    ${
      total === 0
        ? html`<p class="quiet">Nothing is wrong with any sandbox.</p>`
        : html`<ul class="stack">
            ${found.map((each) => attentionItem(app, each))}
          </ul>`
    }
    ${total > found.length ? html`<p class="quiet">and ${plural(total - found.length, "other")}</p>` : nothing}
  </section>`
}

function attentionItem(app: App, { worker, key, reason }: Attention): TemplateResult {
  const name = html`${icon("warning", "bad")}<span class="text">${visible(key)}</span>`
  return html`<li>
    ${link(app, { screen: "sandbox", worker, key }, name, "title")}
    <p><span class="tag">${visible(worker, 60)}</span> ${visible(reason, REASON_LENGTH)}</p>
  </li>`
}

/** The workers with what is known of each. */
export function workersPanel(app: App, rates: WorkerRates, onWorker: (worker: string) => void): TemplateResult {
  const workers = [...app.model.fleet.workers.values()].sort((a, b) => (a.worker < b.worker ? -1 : 1))
  return html`<section class="panel" aria-labelledby="workers-title">
    <h2 id="workers-title">Workers <span class="badge">${count(workers.length)}</span></h2>
    ${workers.length === 0 ? html`<p class="quiet">No worker is known yet.</p>` : nothing}
    <ul class="stack">
      ${workers.map((row) => workerItem(row, rates, onWorker))}
    </ul>
  </section>`
}

function workerItem(row: WorkerRow, rates: WorkerRates, onWorker: (worker: string) => void): TemplateResult {
  const { worker, problem, closed, address, runtime } = row
  const name = visible(worker, 80)
  return html`<li class="worker">
    <button type="button" class="title plain" title="Show its sandboxes" @click=${() => onWorker(worker)}>
      ${problem === null ? nothing : icon("warning", "bad")}<span class="text">${name}</span>
      ${closed ? html`<span class="tag">takes nothing new in</span>` : nothing}
    </button>
    <p class="quiet">
      ${[runtime, address].filter((each) => each !== null).map((each) => html`<span class="text">${visible(each, 120)}</span> `)}
    </p>
    ${problem === null ? workerFacts(row, rates) : html`<p class="problem">${visible(problem, REASON_LENGTH)}</p>`}
  </li>`
}

function workerFacts({ worker, clockOffset, stats }: WorkerRow, rates: WorkerRates): TemplateResult {
  const renewals = rates.perSecond(worker, "renewals")
  return html`<dl class="facts">
    <div>
      <dt title="By how much its wall clock is ahead of the store's">clock</dt>
      <dd>${clockOffset === null ? "–" : signed(clockOffset)}</dd>
    </div>
    <div>
      <dt title="Renewals a second, over the last half minute">renewals/s</dt>
      <dd>${renewals === null ? "–" : rate(Math.max(0, renewals))}</dd>
    </div>
    <div>
      <dt title="Writes that the store had no room for at that moment">429s</dt>
      <dd class=${(stats["throttled"] ?? 0) > 0 ? "warn" : ""}>${count(stats["throttled"] ?? 0)}</dd>
    </div>
    <div>
      <dt title="Leases that ended without a release">lost</dt>
      <dd class=${(stats["losses"] ?? 0) > 0 ? "warn" : ""}>${count(stats["losses"] ?? 0)}</dd>
    </div>
  </dl>`
}

const signed = (ms: number): string => (Math.round(ms) === 0 ? "±0 ms" : `${ms > 0 ? "+" : ""}${duration(ms)}`)

/** The last errors, the latest first. */
export function errorsPanel(app: App, errors: readonly FleetError[]): TemplateResult | typeof nothing {
  if (errors.length === 0) return nothing
  const latest = errors.slice(-MOST_ERRORS).toReversed()
  return html`<section class="panel" aria-labelledby="errors-title">
    <h2 id="errors-title">Last errors <span class="badge">${count(errors.length)}</span></h2>
    <ul class="stack">
      ${latest.map(
        ({ at, worker, key, error }) =>
          html`<li>
            <p>
              <time>${app.model.timeText(at)}</time> <span class="tag">${visible(worker, 60)}</span>
              ${key === null ? nothing : link(app, { screen: "sandbox", worker, key }, html`<span class="text">${visible(key, 80)}</span>`)}
            </p>
            <p class="problem">${visible(`${error.tag}: ${error.message}`, REASON_LENGTH)}</p>
          </li>`,
      )}
    </ul>
  </section>`
}
