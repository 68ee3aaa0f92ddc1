/**
 * An error of the library, as the command tells it. What happened is told alike. What to do is said otherwise: the
 * library names options of its calls, the command its own flags.
 */
import type { LockError } from "../../locks/api/errors.ts"

/** What the library advises, and what the command says instead. */
export const INSTEAD: ReadonlyMap<string, string> = new Map([
  [
    'Try again later, or pass contention: "retry" to wait for a turn within the budget',
    "Try again later, or leave --no-queue out to wait for a turn",
  ],
  ["Nothing is held; acquire again when it is wanted", "Nothing is held; call it again when it is wanted"],
  [
    "Stop what was done under it; what reached others since then is fenced by the token alone",
    "It was ended; what reached others since then is fenced by the token alone",
  ],
  [
    "Give the bare name, 3 to 222 characters of [a-z0-9._-], without gs:// and without a path",
    "Write gs://BUCKET or gs://BUCKET/PREFIX, the bucket with 3 to 222 characters of [a-z0-9._-]",
  ],
  [
    "Name a project that pays by `userProject`; the account needs serviceusage.services.use on it (roles/serviceusage.serviceUsageConsumer)",
    "Name a project that pays, by gs://BUCKET/PREFIX?userProject=PROJECT; the account needs serviceusage.services.use on it (roles/serviceusage.serviceUsageConsumer)",
  ],
  ["Give fileStore a directory, such as /var/lib/leasehold", "Write file:DIR, such as file:/var/lib/leasehold"],
  ["Try again, with more time if it is far away", "Check the way to it, and try again"],
  [
    "Check the credentials (gcloud auth application-default login, or GOOGLE_APPLICATION_CREDENTIALS). An endpoint given by `endpoint` or STORAGE_EMULATOR_HOST is sent none; one given by CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE is",
    "Check the credentials (gcloud auth application-default login, or GOOGLE_APPLICATION_CREDENTIALS). An endpoint given by STORAGE_EMULATOR_HOST is sent none; one given by CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE is",
  ],
])

/** The error's first sentence, what happened, without its full stop. */
export const happened = ({ message, next }: LockError): string => message.slice(0, -`. ${next}.`.length)

/** The error's second sentence, what to do, without its full stop. */
export const advice = ({ next }: LockError): string => INSTEAD.get(next) ?? next
