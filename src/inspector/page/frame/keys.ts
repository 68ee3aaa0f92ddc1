/** The keys that work wherever one is, unless one types. */
import { after } from "../look/clock.ts"
import type { App } from "./app.ts"

/** What they do. */
export interface KeyActions {
  help(): void
  search(): void
  theme(): void
  step(by: -1 | 1): void
  play(): void
  /** False where there was nothing to leave. */
  leave(): void
}

/** In milliseconds: a second key that comes later is one of its own. */
const CHORD = 1200

/** Listens as long as the page is open. */
export function followKeys(app: App, actions: KeyActions): void {
  let isGoing = false
  const go: Readonly<Record<string, () => void>> = {
    f: () => app.go({ screen: "fleet", search: "" }),
    t: () => app.go({ screen: "timeline" }),
    s: () => app.go({ screen: "sequence", key: "" }),
  }
  const keys: Readonly<Record<string, () => void>> = {
    "?": () => actions.help(),
    "/": () => actions.search(),
    d: () => actions.theme(),
    "[": () => actions.step(-1),
    "]": () => actions.step(1),
    " ": () => actions.play(),
    l: () => app.model.lookAt(null),
    g: () => {
      isGoing = true
      after(CHORD, () => (isGoing = false))
    },
    Escape: () => actions.leave(),
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (document.querySelector("dialog[open]") !== null) return
    const { target } = event
    if (isTyping(target)) {
      if (event.key === "Escape" && target instanceof HTMLElement) target.blur()
      return
    }
    if (event.key === " " && target instanceof Element && target.closest("button, a, summary") !== null) return
    const act = (isGoing ? go[event.key] : undefined) ?? keys[event.key]
    if (act === undefined) return
    if (event.key !== "g") isGoing = false
    event.preventDefault()
    act()
  })
}

const isTyping = (target: EventTarget | null): boolean =>
  (target instanceof HTMLInputElement && target.type !== "range" && target.type !== "checkbox") ||
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement
