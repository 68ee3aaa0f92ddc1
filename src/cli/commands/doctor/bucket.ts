/**
 * What `leasehold doctor` says of a bucket's settings. A lease is one small object that is written over and over. A
 * setting that keeps old versions costs money, and one that forbids overwriting ends all leases.
 */
import type { Clock } from "../../../runtime/time/clock.ts"
import type { StoreName } from "../../stores/stores.ts"
import type { Finding } from "./finding.ts"

type Metadata = Readonly<Record<string, unknown>>

/** Findings about a bucket, by one request for its metadata. */
export async function bucketFindings(
  name: StoreName & { readonly kind: "gs" },
  clock: Clock,
): Promise<readonly Finding[]> {
  const { bucketMetadata } = await import("../../../locks/stores/gcs/metadata.ts")
  const { bucket, prefix, userProject } = name
  const answer = await bucketMetadata({ bucket, prefix, userProject, clock })
  if (answer.kind === "found") return judgeBucket(name.bucket, answer.metadata)
  return [
    {
      check: "bucket policy",
      status: "unknown",
      found: `its settings can't be read: ${answer.why}`,
      remedy: `Grant storage.buckets.get, such as by gcloud storage buckets add-iam-policy-binding gs://${name.bucket} --member=… --role=roles/storage.legacyBucketReader`,
    },
  ]
}

/** What each setting means for leases. */
export function judgeBucket(bucket: string, metadata: Metadata): readonly Finding[] {
  const update = (flags: string): string => `gcloud storage buckets update gs://${bucket} ${flags}`
  return [
    versioning(metadata, update),
    softDelete(metadata, update),
    retention(metadata, update),
    holds(metadata, update),
    lifecycle(metadata, bucket),
    publicAccess(metadata, update),
  ]
}

type Update = (flags: string) => string

function versioning(metadata: Metadata, update: Update): Finding {
  if (at(metadata, "versioning", "enabled") !== true) return ok("versioning", "off")
  return {
    check: "versioning",
    status: "warning",
    found: "on: every renewal of every lease leaves a noncurrent version that is stored and billed",
    remedy: update("--no-versioning"),
  }
}

function softDelete(metadata: Metadata, update: Update): Finding {
  const seconds = Number(at(metadata, "softDeletePolicy", "retentionDurationSeconds") ?? 0)
  if (seconds === 0) return ok("soft delete", "off")
  return {
    check: "soft delete",
    status: "warning",
    found: `on: what every renewal overwrites is stored and billed for ${Math.round(seconds / 86_400)} days`,
    remedy: update("--clear-soft-delete"),
  }
}

function retention(metadata: Metadata, update: Update): Finding {
  const seconds = Number(at(metadata, "retentionPolicy", "retentionPeriod") ?? 0)
  if (seconds === 0) return ok("retention", "none")
  const isLocked = at(metadata, "retentionPolicy", "isLocked") === true
  return {
    check: "retention",
    status: "problem",
    found: `objects can't be overwritten for ${seconds} s: no lease can be renewed or released`,
    remedy: isLocked ? "It is locked: use another bucket" : update("--clear-retention-period"),
  }
}

function holds(metadata: Metadata, update: Update): Finding {
  if (metadata["defaultEventBasedHold"] !== true) return ok("holds", "none by default")
  return {
    check: "holds",
    status: "problem",
    found: "new objects are held: no lease can be renewed or released",
    remedy: update("--no-default-event-based-hold"),
  }
}

function lifecycle(metadata: Metadata, bucket: string): Finding {
  const rules = at(metadata, "lifecycle", "rule")
  const deleting = (Array.isArray(rules) ? rules : []).filter((rule) => at(rule, "action", "type") === "Delete")
  const live = deleting.filter(
    (rule) => at(rule, "condition", "isLive") !== false && at(rule, "condition", "numNewerVersions") === undefined,
  )
  if (live.length === 0) return ok("lifecycle", "no rule deletes current objects")
  return {
    check: "lifecycle",
    status: "warning",
    found: `${live.length} of its rules delete current objects: a record that goes takes its fencing token along, a head its state`,
    remedy: `Exclude leasehold's prefix from these rules (gcloud storage buckets describe gs://${bucket} --format="default(lifecycle_config)")`,
  }
}

function publicAccess(metadata: Metadata, update: Update): Finding {
  const prevention = at(metadata, "iamConfiguration", "publicAccessPrevention")
  if (prevention === "enforced") return ok("public access", "prevented")
  return {
    check: "public access",
    status: "warning",
    found: "not prevented by the bucket: one wrong grant, and anybody can read or break leases",
    remedy: update("--public-access-prevention"),
  }
}

const ok = (check: string, found: string): Finding => ({ check, status: "ok", found })

/** A value in nested objects, whatever they are. */
function at(value: unknown, ...path: readonly string[]): unknown {
  let inner = value
  for (const name of path) inner = typeof inner === "object" && inner !== null ? (inner as Metadata)[name] : undefined
  return inner
}
