/** The sheet that `?` opens: all keys of the page, and what its pictures mean. */
import { html, render } from "lit-html"
import { pageLicences } from "./licences.ts"

const KEYS: readonly (readonly [string, string])[] = [
  ["?", "this sheet"],
  ["/", "search, or choose a key"],
  ["g f", "fleet"],
  ["g t", "timeline"],
  ["g s", "sequence"],
  ["Esc", "back to the fleet, or out of a field"],
  ["[ ]", "one line back or on in time"],
  ["Space", "play from the moment that is looked at"],
  ["l", "back to the present"],
  ["d", "light, dark, or as the system has it"],
  ["↑ ↓ PgUp PgDn Home End", "move in the list"],
  ["← → ↑ ↓", "move in the heat map; ← → the moment in the timeline, with Shift its part of the time"],
  ["+ −", "zoom the timeline"],
  ["Enter", "open what is chosen"],
]

const SEARCHES: readonly (readonly [string, string])[] = [
  ["order/", "the key has this in it"],
  ["worker:a", "at this worker; also owner: waiter: error: leaving:"],
  ["state:waiting", "in this state; also state:restoring, state:degraded"],
  ["is:stuck", "also is:owned, is:failed"],
  ["held>5m", "owned longer; also waited> in> handoffs> token>"],
  ["-worker:a", "not that"],
]

/** The dialog. */
export class HelpSheet {
  readonly element = document.createElement("dialog")

  /** Closed at first. */
  constructor() {
    this.element.className = "help"
    this.element.setAttribute("aria-labelledby", "help-title")
    const close = (): void => this.element.close()
    const list = (entries: typeof KEYS): unknown =>
      entries.map(
        ([keys, meaning]) =>
          html`<div>
            <dt><kbd>${keys}</kbd></dt>
            <dd>${meaning}</dd>
          </div>`,
      )
    render(
      html`<header>
          <h2 id="help-title">Keys and searches</h2>
          <button type="button" autofocus @click=${close}>Close</button>
        </header>
        <div class="sheets">
          <section>
            <h3>Keys</h3>
            <dl>${list(KEYS)}</dl>
          </section>
          <section>
            <h3>Search</h3>
            <dl>${list(SEARCHES)}</dl>
            <h3>About</h3>
            <p class="quiet">
              leasehold, Apache-2.0. With code of ${pageLicences}; their licences stand at the top of this page's
              source.
            </p>
          </section>
        </div>`,
      this.element,
    )
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element) close()
    })
  }

  /** Opens or closes it. */
  toggle(): void {
    if (this.element.open) this.element.close()
    else this.element.showModal()
  }
}
