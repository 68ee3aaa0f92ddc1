/**
 * Where requests go, and whether they carry credentials. The first of these that is given counts:
 *
 *     the client `storage`                     its endpoint, and credentials as it decides
 *     the option `endpoint`                    no credentials: an emulator
 *     STORAGE_EMULATOR_HOST                    no credentials; http, where it names no scheme
 *     CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE  credentials: another way to Cloud Storage itself, as for gcloud
 *     https://storage.googleapis.com           credentials
 *
 * Only the environment can send credentials to another server: a user who may set it has them anyway, while a store's
 * name can come from a file in the directory where the command is called.
 */
import { InvalidConfigError } from "../../../api/errors.ts"
import { firstVariable } from "../http/environment.ts"
import type { GcsSettings } from "./options.ts"

/** A server, and whether it is shown credentials. */
export interface Endpoint {
  readonly url: URL
  readonly credentials: boolean
}

/** As gcloud names its property `api_endpoint_overrides/storage` in the environment. */
const OVERRIDE = "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"
const EMULATOR = "STORAGE_EMULATOR_HOST"
const OWN = "https://storage.googleapis.com"
const EXAMPLE = "http://127.0.0.1:4443"

/** Throws InvalidConfigError for a variable that names no server. */
export function endpointOf({ storage, endpoint }: Pick<GcsSettings, "storage" | "endpoint">): Endpoint {
  if (storage !== undefined)
    return {
      url: urlOf(storage.apiEndpoint, "the storage's apiEndpoint", EXAMPLE),
      credentials: storage.customEndpoint !== true || storage.useAuthWithCustomEndpoint === true,
    }
  if (endpoint !== undefined) return { url: urlOf(endpoint, "endpoint", EXAMPLE), credentials: false }
  const emulator = firstVariable(EMULATOR)?.value
  if (emulator !== undefined) return { url: urlOf(withScheme(emulator), EMULATOR, EXAMPLE), credentials: false }
  const override = firstVariable(OVERRIDE)?.value
  return { url: override === undefined ? new URL(OWN) : secretly(urlOf(override, OVERRIDE, OWN)), credentials: true }
}

const withScheme = (text: string): string => (text.includes("://") ? text : `http://${text}`)

function urlOf(text: string, source: string, example: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url
  throw new InvalidConfigError({
    message: `${source} is ${JSON.stringify(text)}, which is not an http or https URL`,
    next: `Give one such as ${example}`,
  })
}

/** Credentials go over the network encrypted, or not at all. */
function secretly(url: URL): URL {
  if (url.protocol === "https:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)) return url
  throw new InvalidConfigError({
    message: `${OVERRIDE} is ${JSON.stringify(url.href)}, to which credentials would be sent unencrypted`,
    next: `Give an https URL, or name an emulator by ${EMULATOR}, which is sent none`,
  })
}
