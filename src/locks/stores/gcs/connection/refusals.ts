/**
 * What Cloud Storage refuses for reasons that no permission on the bucket mends, and what mends each: by the `reason`
 * that the body of the answer names (JSON API, "HTTP status and error codes"), or by its text, where Google's front end
 * answers with a body of another form. Decides about words alone: that such a request was refused for good is the
 * status's to say.
 */
import type { BucketPlace } from "./bucket-place.ts"

/** One kind of refusal. */
export interface KnownRefusal {
  /** In small letters: Google writes some of them with a capital, and some after a prefix `usageLimits.`. */
  readonly reason: RegExp
  /** Where the reason is a general one, or missing. */
  readonly text?: RegExp
  /** What is the matter, as the end of a sentence. */
  readonly problem: string
  readonly next: (place: BucketPlace) => string
}

const refusals: readonly KnownRefusal[] = [
  {
    reason: /^retentionpolicynotmet$/,
    problem: "the bucket keeps objects for a time, and a lease is an object that is overwritten",
    next: ({ bucket }) =>
      `Remove the retention policy (gcloud storage buckets update gs://${bucket} --clear-retention-period), or use another bucket where it is locked`,
  },
  {
    reason: /^objectunderactivehold$/,
    problem: "the object is under a hold, and a lease is an object that is overwritten",
    next: ({ bucket, name }) =>
      `Lift the holds (gcloud storage objects update "${name}/**" --no-event-based-hold --no-temporary-hold) and give new objects none (gcloud storage buckets update gs://${bucket} --no-default-event-based-hold)`,
  },
  {
    reason: /^accountdisabled$/,
    text: /billing (account .* is|has been|is)? ?disabled/i,
    problem: "billing is disabled for the project that pays",
    next: () =>
      "Enable billing for the bucket's project, and for the quota project of the credentials where they name one (quota_project_id)",
  },
  {
    reason: /^vpcservicecontrols$/,
    text: /vpc service controls|vpcServiceControlsUniqueIdentifier|prohibited by organization's policy/i,
    problem: "a perimeter of VPC Service Controls keeps this machine or this account out",
    next: () =>
      "Call from inside the perimeter, or have its administrators let this account in, who find the refusal by the identifier in the message",
  },
  {
    reason: /^userprojectmissing$/,
    text: /requester pays bucket but no user project/i,
    problem: "the bucket has its requesters pay, and no project was named that does",
    next: () =>
      "Name a project that pays by `userProject`; the account needs serviceusage.services.use on it (roles/serviceusage.serviceUsageConsumer)",
  },
  {
    reason: /^userprojectaccessdenied$/,
    problem: "the account may not have the named project pay",
    next: () =>
      "Grant serviceusage.services.use on that project (roles/serviceusage.serviceUsageConsumer), or name another",
  },
  {
    reason: /^userproject(invalid|accountproblem|inconsistent)$/,
    problem: "the project that was named to pay can't",
    next: () => "Correct the project's id, or see to its billing",
  },
  {
    reason: /^accessnotconfigured$/,
    problem: "the API of Cloud Storage is not enabled for the project of the credentials",
    next: () =>
      "Enable it: gcloud services enable storage.googleapis.com, with --project for the project in the message",
  },
  {
    reason: /^cloudkms/,
    problem: "the bucket's encryption key can't be used",
    next: ({ bucket }) =>
      `Enable the key, and let Cloud Storage's service agent use it (gcloud storage service-agent --authorize-cmek=KEY), or give the bucket another (gcloud storage buckets update gs://${bucket} --default-encryption-key=KEY)`,
  },
  {
    reason: /^orgpolicyconstraintfailed$/,
    problem: "a constraint of the organisation forbids it",
    next: () =>
      "Have the administrators of the organisation change the constraint that the message names, or use another bucket",
  },
  {
    reason: /^access_?token_?scope_?insufficient$/,
    text: /insufficient (authentication )?scopes|scope\(s\) are not authorized/i,
    problem: "the token of this machine is for less than writing to Cloud Storage",
    next: () =>
      "Give the machine the scope cloud-platform (gcloud compute instances set-service-account MACHINE --scopes=cloud-platform); roles say the rest",
  },
]

/** Undefined where the answer names no such reason. */
export function refusalOf(reason: string, text: string): KnownRefusal | undefined {
  const plain = reason.toLowerCase().replace(/^usagelimits\./, "")
  return refusals.find((refusal) => refusal.reason.test(plain)) ?? refusals.find((refusal) => refusal.text?.test(text))
}
