/**
 * Who may ask an inspector: a request under a name of ours, from our own page or from no page, with the token or with
 * the signature of another worker. Decides nothing about what is answered.
 */
import { isIP } from "node:net"
import { isSame, type Signable, type Signatures } from "../workers/signature.ts"

/** How a request without access is answered. */
export interface AccessRefusal {
  readonly status: 400 | 401 | 403 | 421
  readonly error: string
}

/** A request that may be answered. */
export type Asker = "person" | "peer"

/** What access is judged by. */
export interface AccessParts {
  readonly token: string
  /** Names that are ours, without ports. */
  readonly hosts: readonly string[]
  /** Host and port under which other workers know this one; undefined: as they say. */
  readonly authority: string | undefined
  /** Undefined: there is no secret. */
  readonly signatures: Signatures | undefined
}

/** Judges requests. */
export class Access {
  readonly #parts: AccessParts
  readonly #hosts: ReadonlySet<string>

  constructor(parts: AccessParts) {
    this.#parts = parts
    this.#hosts = new Set(["localhost", ...parts.hosts.map((host) => host.toLowerCase())])
  }

  /** Who asks, or why nobody may. `isPage`: the one request that has the token in its address. */
  judge(
    request: Request,
    url: URL,
    { isPage, body }: { readonly isPage: boolean; readonly body: string },
  ): Asker | AccessRefusal {
    const host = request.headers.get("host") ?? url.host
    return this.#foreign(request, host, isPage) ?? this.#known(request, url, host, isPage, body)
  }

  /** A page of somebody else's can have a browser ask us: under a name of its own, or with its own origin. */
  #foreign({ headers }: Request, host: string, isPage: boolean): AccessRefusal | undefined {
    const name = hostnameOf(host)
    if (name === undefined) return { status: 400, error: "Its Host is no name of a host." }
    if (!this.#isOurs(name)) {
      return { status: 421, error: `This isn't ${name}. If it is, say so in the option hosts of the inspector.` }
    }
    const origin = headers.get("origin")
    if (origin !== null && !isOriginOf(origin, host))
      return { status: 403, error: "It comes from a page of another origin." }
    const site = headers.get("sec-fetch-site")
    if (
      site === null ||
      site === "same-origin" ||
      site === "none" ||
      (isPage && headers.get("sec-fetch-mode") === "navigate")
    )
      return undefined
    return { status: 403, error: "It comes from a page of another site." }
  }

  /** An address can't be made to resolve to us: a page that is served under it is ours. */
  #isOurs = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, "")) !== 0 || this.#hosts.has(name)

  #known(request: Request, url: URL, host: string, isPage: boolean, body: string): Asker | AccessRefusal {
    const { token, signatures, authority = host } = this.#parts
    const [, bearer] = /^Bearer (.+)$/i.exec(request.headers.get("authorization") ?? "") ?? []
    const given = bearer ?? (isPage ? url.searchParams.get("token") : null)
    if (given !== null && isSame(given, token)) return "person"
    if (!request.headers.has("x-leasehold-signature")) {
      return {
        status: 401,
        error: "There is no token, or a wrong one. Open the address that the worker printed, as a whole.",
      }
    }
    if (signatures === undefined) return { status: 403, error: "This worker has no secret: give it LEASEHOLD_SECRET." }
    const signable: Signable = { method: request.method, path: `${url.pathname}${url.search}`, authority, body }
    const problem = signatures.problemOf(request.headers, signable)
    return problem === undefined ? "peer" : { status: 403, error: `${problem}.` }
  }
}

function hostnameOf(host: string): string | undefined {
  if (!/^[\w.:[\]-]{1,260}$/.test(host) || !URL.canParse(`http://${host}/`)) return undefined
  return new URL(`http://${host}/`).hostname
}

/** Whatever the scheme: who ends TLS before us leaves the host as it is. */
function isOriginOf(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host: theirs } = new URL(origin)
  return theirs !== "" && theirs === new URL(`${protocol}//${host}/`).host
}
