/**
 * What can be asked of a sandbox or of its worker. Each is asked once more before it is done: it changes what others
 * see.
 */
import { html, render } from "lit-html"
import type { ActionRequest } from "../../live/model/wire.ts"
import { visible } from "../../live/visible.ts"
import type { App } from "../frame/app.ts"

interface OfferedAction {
  readonly name: string
  readonly question: string
  readonly meaning: string
  readonly isOfWorker: boolean
}

const ACTIONS: Readonly<Record<ActionRequest["action"], OfferedAction>> = {
  checkpoint: {
    name: "Save a checkpoint",
    question: "Save a checkpoint now?",
    meaning: "Its state is written to the store at its next turn. Nothing else changes.",
    isOfWorker: false,
  },
  handoff: {
    name: "Hand it off",
    question: "Hand this sandbox off?",
    meaning:
      "Its work is asked to stop, a checkpoint is saved, and whoever waits gets it. If nobody waits, it is released.",
    isOfWorker: false,
  },
  cordon: {
    name: "Cordon the worker",
    question: "Cordon this worker?",
    meaning: "It takes no new sandbox in until it is started anew. What it has stays.",
    isOfWorker: true,
  },
}

/** The buttons, and the dialog that asks. */
export class Actions {
  readonly element = document.createElement("div")
  readonly #app: App
  readonly #dialog = document.createElement("dialog")
  readonly #outcome = document.createElement("p")
  readonly #buttons: readonly HTMLButtonElement[]
  readonly #of: { readonly worker: string; readonly key: string }

  /** For this sandbox. */
  constructor(app: App, worker: string, key: string) {
    this.#app = app
    this.#of = { worker, key }
    this.element.className = "actions"
    this.#outcome.setAttribute("role", "status")
    this.#dialog.setAttribute("aria-labelledby", "question")
    this.#buttons = (Object.keys(ACTIONS) as ActionRequest["action"][]).map((action) => this.#button(action))
    this.element.append(...this.#buttons, this.#outcome, this.#dialog)
  }

  /** Whether they can be pressed. */
  allow(isAllowed: boolean): void {
    for (const button of this.#buttons) button.disabled = !isAllowed
  }

  #button(action: ActionRequest["action"]): HTMLButtonElement {
    const button = document.createElement("button")
    button.type = "button"
    button.textContent = ACTIONS[action].name
    button.addEventListener("click", () => this.#ask(action))
    return button
  }

  #ask(action: ActionRequest["action"]): void {
    const { question, meaning, isOfWorker, name } = ACTIONS[action]
    const whom = visible(isOfWorker ? this.#of.worker : this.#of.key, 200)
    const done = (): void => this.#dialog.close()
    const agreed = (): void => {
      done()
      void this.#act(action)
    }
    render(
      html`<h2 id="question">${question}</h2>
        <p><b class="text">${whom}</b></p>
        <p>${meaning}</p>
        <div class="buttons">
          <button type="button" autofocus @click=${done}>Leave it</button>
          <button type="button" class="primary" @click=${agreed}>${name}</button>
        </div>`,
      this.#dialog,
    )
    this.#dialog.showModal()
  }

  async #act(action: ActionRequest["action"]): Promise<void> {
    const { worker, key } = this.#of
    this.#say("Asking…", "")
    try {
      const answer = await this.#app.requests?.act(
        ACTIONS[action].isOfWorker ? { action, worker } : { action, worker, key },
      )
      this.#say(answer?.message ?? "There is no worker to ask.", answer?.done === true ? "" : "problem")
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error), "problem")
    }
  }

  #say(words: string, className: string): void {
    this.#outcome.className = className
    this.#outcome.textContent = visible(words)
  }
}
