/** What a worker's HTTP side can be told, checked at its start. */
import { aCount, aFunction, type OptionChecks, refusal, refuseUnknown, shown } from "../runtime/input/options.ts"
import type { OnError } from "../runtime/report.ts"
import { aHost, aPort, isOfThisMachine } from "../web/addresses.ts"
import { aSecret, DRAWN, SECRET_VARIABLE, sharedSecret } from "../web/secret.ts"

/** How a worker takes and sends calls. */
export interface WorkerOptions {
  /**
   * What all workers of the fleet know, and nobody else: at least 16 visible ASCII characters. Requests are signed by
   * it. Default: `LEASEHOLD_SECRET`; without one it is InvalidConfigError.
   */
  readonly secret?: string
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
}

/** Options that hold. */
export interface WorkerSettings {
  readonly secret: string
  readonly allow: (address: URL) => boolean
  readonly maxBody: number
  readonly onError: OnError | undefined
}

const OPTIONS: OptionChecks<WorkerOptions> = {
  secret: aSecret,
  allow: aFunction,
  maxBody: aCount(1),
  onError: aFunction,
}

const LISTEN: OptionChecks<ListenOptions> = { port: aPort, host: aHost }

/** Checks the options of `serveWorker`. Throws InvalidConfigError. */
export function workerSettings(options: WorkerOptions): WorkerSettings {
  refuseUnknown("serveWorker", options, OPTIONS)
  const { secret = sharedSecret(), allow = isOfThisMachine, maxBody = 1_048_576, onError } = options
  if (secret === undefined)
    throw refusal(
      `secret is ${shown(secret)}, and ${SECRET_VARIABLE} isn't set`,
      `Give all workers of the fleet one, drawn at random: ${DRAWN}`,
    )
  return { secret, allow, maxBody, onError }
}

/** Checks those of `listen`. Throws InvalidConfigError. */
export function listenSettings(options: ListenOptions): Required<ListenOptions> {
  refuseUnknown("listen", options, LISTEN)
  const { port = 0, host = "127.0.0.1" } = options
  return { port, host }
}
