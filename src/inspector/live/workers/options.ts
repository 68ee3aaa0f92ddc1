/** What an inspector can be told, checked at its start. */
import {
  aFlag,
  aFunction,
  aList,
  type OptionChecks,
  refusal,
  refuseUnknown,
  shown,
} from "../../../runtime/input/options.ts"
import type { OnError } from "../../../runtime/report.ts"
import { addressOf, aHost, aPort, isLoopback, isOfThisMachine } from "../../../web/addresses.ts"
import { aSecret, DRAWN, sharedSecret } from "../../../web/secret.ts"

/** How an inspector is made. */
export interface InspectorOptions {
  /** What a viewer has to know: at least 16 characters. Default: one that is drawn anew, `Inspector.token`. */
  readonly token?: string
  /** Allows checkpoints, handoffs and cordons to each viewer that has the token. Default: false, one can only look. */
  readonly actions?: boolean
  /**
   * Names under which the page is reached, without ports, beside `localhost`, IP addresses, and the host of the
   * manager's address. Under any other name requests are refused: a foreign page could have it resolved to this
   * process.
   */
  readonly hosts?: readonly string[]
  /**
   * What all workers of the fleet know, and nobody else: at least 16 characters. With it the workers are seen in one
   * page. Default: `LEASEHOLD_SECRET`; without one a worker is seen alone.
   */
  readonly secret?: string
  /**
   * Which addresses of other workers may be asked. Default: those of this machine alone (`localhost`, 127.0.0.0/8,
   * ::1).
   */
  readonly allow?: (address: URL) => boolean
  /** Addresses of workers that are asked from the start, beside those in the records. */
  readonly peers?: readonly string[]
  /** Gets every error of background work; default standard error. */
  readonly onError?: OnError
}

/** How the page is served. */
export interface ServeInspectorOptions extends InspectorOptions {
  /** Default: 0, one that is free. */
  readonly port?: number
  /** The address that it listens at. Default: 127.0.0.1; one that other machines reach takes a `token` of yours. */
  readonly host?: string
}

/** Options that hold. */
export interface InspectorSettings {
  readonly token: string | undefined
  readonly actions: boolean
  readonly hosts: readonly string[]
  readonly secret: string | undefined
  readonly allow: (address: URL) => boolean
  readonly peers: readonly string[]
  readonly onError: OnError | undefined
}

const texts = (name: string, value: unknown): void => {
  aList(name, value)
  for (const each of value as unknown[]) {
    if (typeof each !== "string" || each === "") throw refusal(`${name} has ${shown(each)} in it`, "Give texts")
  }
}

const urls = (name: string, value: unknown): void => {
  texts(name, value)
  for (const each of value as string[]) {
    if (addressOf(each) === undefined)
      throw refusal(`${name} has ${shown(each)} in it`, "Give addresses as http://host:port")
  }
}

const OPTIONS: OptionChecks<InspectorOptions> = {
  token: aSecret,
  actions: aFlag,
  hosts: texts,
  secret: aSecret,
  allow: aFunction,
  peers: urls,
  onError: aFunction,
}

const SERVE_OPTIONS: OptionChecks<ServeInspectorOptions> = { ...OPTIONS, port: aPort, host: aHost }

/** Checks the options of `inspector`. Throws InvalidConfigError. */
export function inspectorSettings(options: InspectorOptions): InspectorSettings {
  refuseUnknown("inspector", options, OPTIONS)
  const { token, actions = false, hosts = [], secret = sharedSecret(), allow = isOfThisMachine, peers = [] } = options
  return { token, actions, hosts, secret, allow, peers, onError: options.onError }
}

/** Checks those of `serveInspector`. Throws InvalidConfigError. */
export function serveSettings(options: ServeInspectorOptions): {
  port: number
  host: string
  inspect: InspectorOptions
} {
  refuseUnknown("serveInspector", options, SERVE_OPTIONS)
  const { port = 0, host = "127.0.0.1", ...inspect } = options
  if (!isLoopback(host) && inspect.token === undefined) {
    throw refusal(
      `host is ${shown(host)}, which other machines reach, and there is no token`,
      `Give a token of yours, drawn at random (${DRAWN}), or listen at 127.0.0.1`,
    )
  }
  return { port, host, inspect }
}
