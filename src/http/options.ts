/** What a worker's HTTP side can be told, checked at its start. */
import { aCount, aFunction, type OptionChecks, refusal, refuseUnknown, shown } from "../runtime/input/options.ts"
import type { OnError } from "../runtime/report.ts"
import { addressOf, aHost, aPort, isOfThisMachine } from "../web/addresses.ts"
import { aSecret, DRAWN, SECRET_VARIABLE, sharedSecret } from "../web/secret.ts"

/** How a worker takes and sends calls. */
export interface WorkerOptions {
  /**
   * What all workers of the fleet know, and nobody else: at least 16 visible ASCII characters. Requests are signed by
   * it. Default: `LEASEHOLD_SECRET`; without one it is InvalidConfigError.
   */
  readonly secret?: string
  /**
   * Knows requests of clients that have no secret, by their headers: a session or a token of yours. Workers sign.
   * Default: nobody but workers, and clients that know the secret, is answered.
   */
  readonly auth?: (request: Request) => boolean | Promise<boolean>
  /**
   * Which addresses of owners may be contacted. They stand in records that others wrote. Default: those of this machine
   * alone (`localhost`, 127.0.0.0/8, ::1).
   */
  readonly allow?: (address: URL) => boolean
  /** The longest body of a request or an answer, in bytes; default 1,048,576. Each is held in memory. */
  readonly maxBody?: number
  /** Gets every error of a request that is a fault of this worker; default standard error. */
  readonly onError?: OnError
}

/** Where a worker listens. */
export interface ListenOptions {
  /** Default: 0, one that is free. */
  readonly port?: number
  /** The IP address that it listens at. Default: 127.0.0.1. */
  readonly host?: string
  /**
   * Where other machines reach it, as `http://host:port`. Default: host and port. Needed where `host` is all addresses
   * of this machine (`0.0.0.0`, `::`), which are no address for others.
   */
  readonly address?: string
}

/** Options that hold. */
export interface WorkerSettings {
  /** As the manager publishes it. */
  readonly address: string
  readonly secret: string
  readonly auth: WorkerOptions["auth"]
  readonly allow: (address: URL) => boolean
  readonly maxBody: number
  readonly onError: OnError | undefined
}

const OPTIONS: OptionChecks<WorkerOptions> = {
  secret: aSecret,
  auth: aFunction,
  allow: aFunction,
  maxBody: aCount(1),
  onError: aFunction,
}

const anAddress = (name: string, value: unknown): void => {
  if (typeof value !== "string" || addressOf(value) === undefined)
    throw refusal(`${name} is ${shown(value)}`, "Give it as http://host:port")
}

const LISTEN: OptionChecks<ListenOptions> = { port: aPort, host: aHost, address: anAddress }

/** Checks the options of `serveWorker`. Throws InvalidConfigError. */
export function workerSettings(options: WorkerOptions, address: string | null): WorkerSettings {
  refuseUnknown("serveWorker", options, OPTIONS)
  const { secret = sharedSecret(), auth, allow = isOfThisMachine, maxBody = 1_048_576, onError } = options
  if (secret === undefined) throw withoutSecret()
  if (address === null || addressOf(address) === undefined)
    throw refusal(`The manager's address is ${shown(address)}`, "Start it with an address, as http://host:port")
  return { address, secret, auth, allow, maxBody, onError }
}

/** The secret of a client. Throws InvalidConfigError. */
export function secretOf(secret: string | undefined = sharedSecret()): string {
  if (secret === undefined) throw withoutSecret()
  aSecret("secret", secret)
  return secret
}

const withoutSecret = (): Error =>
  refusal(
    `secret is undefined, and ${SECRET_VARIABLE} isn't set`,
    `Give all workers of the fleet one, drawn at random: ${DRAWN}`,
  )

/** Checks those of `listen`. Throws InvalidConfigError. */
export function listenSettings(options: ListenOptions): { port: number; host: string; address: string | undefined } {
  refuseUnknown("listen", options, LISTEN)
  const { port = 0, host = "127.0.0.1", address } = options
  if (address === undefined && isUnspecified(host))
    throw refusal(
      `host is ${shown(host)}, which is all addresses of this machine`,
      "Give address: where others reach it",
    )
  return { port, host, address }
}

/** `0.0.0.0`, `::`, however they are written. */
const isUnspecified = (host: string): boolean => /^[0:.]+$/.test(host)
