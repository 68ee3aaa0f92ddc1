/** How the page is connected, in one word for code and one sentence for people. Pure. */
import { WIRE_VERSION } from "../../live/model/wire.ts"
import { plural } from "../look/format.ts"

/** Where the page's knowledge comes from at this moment. */
export type FeedConnection =
  | { readonly kind: "connecting" }
  | { readonly kind: "loading"; readonly rows: number; readonly of: number }
  | { readonly kind: "live" }
  | { readonly kind: "recorded" }
  /** It tries again by itself. */
  | { readonly kind: "lost"; readonly reason: string }
  /** It doesn't: a person has to do something. */
  | { readonly kind: "refused"; readonly status: number; readonly reason: string }
  | { readonly kind: "version"; readonly version: unknown }

/** Two or three words, for the corner of the page. */
export function connectionName(connection: FeedConnection): string {
  switch (connection.kind) {
    case "connecting":
      return "Connecting"
    case "loading":
      return "Loading"
    case "live":
      return "Live"
    case "recorded":
      return "Recorded"
    case "lost":
      return "Reconnecting"
    case "refused":
      return "Refused"
    case "version":
      return "Other version"
  }
}

/** What it means and what to do; null where all is well. */
export function connectionAdvice(connection: FeedConnection): string | null {
  switch (connection.kind) {
    case "connecting":
    case "live":
    case "recorded":
      return null
    case "loading":
      return `${plural(connection.rows, "sandbox", "sandboxes")} of ${connection.of.toLocaleString("en")} are here.`
    case "lost":
      return `No connection to the worker: ${connection.reason} What is shown is from before. The page tries again by itself.`
    case "refused":
      return connection.status === 401 || connection.status === 403
        ? "The worker refuses this page's token. It has another one after each start: open the address that it prints now."
        : `The worker refuses to answer (status ${connection.status}): ${connection.reason}`
    case "version":
      return `The worker speaks version ${String(connection.version)} and this page version ${WIRE_VERSION}. Reload the page to get the worker's own.`
  }
}
