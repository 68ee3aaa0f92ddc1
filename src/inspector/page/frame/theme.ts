/** Light or dark: by the viewer's preference, until the viewer says otherwise here. */

/** What was chosen. */
export type Theme = "auto" | "light" | "dark"

const ORDER: readonly Theme[] = ["auto", "light", "dark"]
const preference = matchMedia("(prefers-color-scheme: dark)")
let chosen: Theme = "auto"

/** What was chosen last. */
export const theme = (): Theme => chosen

/** Whether the page is dark now. */
export const isDark = (): boolean => (chosen === "auto" ? preference.matches : chosen === "dark")

/** Chooses the next one. */
export function turnTheme(): Theme {
  chosen = ORDER[(ORDER.indexOf(chosen) + 1) % ORDER.length]!
  dress()
  return chosen
}

/** Dresses the page, and calls when it has to be dressed anew. */
export function followTheme(onChange: () => void): void {
  dress()
  preference.addEventListener("change", onChange)
}

/** Without a choice the style sheet goes by the preference itself. */
const dress = (): void => {
  if (chosen === "auto") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = chosen
}
