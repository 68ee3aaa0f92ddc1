/** The page's addresses: which screen, of what. They stand behind the `#`, so that no server sees them. Pure. */

/** What can be shown. */
export type Route =
  | { readonly screen: "fleet"; readonly search: string }
  | { readonly screen: "sandbox"; readonly worker: string; readonly key: string }
  | { readonly screen: "sequence"; readonly key: string }
  | { readonly screen: "timeline" }

/** In characters: browsers and people cut longer addresses. Longer routes work, but have no address. */
const LONGEST = 4000

/** The address of a route; null where it can have none (a key with halves of characters, or of a megabyte). */
export function formatRoute(route: Route): string | null {
  const parts = partsOf(route)
  if (parts.some((part) => !part.isWellFormed())) return null
  const [screen = "", ...rest] = parts.map(encodeURIComponent)
  const address = `#/${[screen, ...rest].join("/")}`
  return address.length > LONGEST ? null : address
}

/** The route of an address: the fleet for any that says nothing. */
export function parseRoute(hash: string): Route {
  const [screen, first = "", second = ""] = hash.replace(/^#\/?/, "").split("/").map(decoded)
  if (screen === "sandbox" && second !== "") return { screen, worker: first, key: second }
  if (screen === "sequence") return { screen, key: first }
  if (screen === "timeline") return { screen }
  return { screen: "fleet", search: screen === "fleet" ? first : "" }
}

function partsOf(route: Route): readonly string[] {
  switch (route.screen) {
    case "fleet":
      return route.search === "" ? [""] : ["fleet", route.search]
    case "sandbox":
      return ["sandbox", route.worker, route.key]
    case "sequence":
      return route.key === "" ? ["sequence"] : ["sequence", route.key]
    case "timeline":
      return ["timeline"]
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
