// What the GCS store makes of answers that are no good: a typed error that says what to do, never "absent", "applied"
// or an empty list.
import { describe, expect, it } from "vitest"
import { StoreMisconfiguredError } from "../../../src/locks/api/errors.ts"
import { bytes, lease, storeOn, within } from "../../support/gcs-stores.ts"
import {
  eachTestHasItsScene,
  everyCall,
  inBucket,
  list,
  misconfigured,
  read,
  remove,
  scene,
  unavailable,
  write,
} from "./gcs-scene.ts"

const html = {
  headers: { "content-type": "text/html" },
  body: "<!DOCTYPE html><html><body>Please sign in</body></html>",
}

/** By status and reason, as the documentation of the JSON API has them, and words of the advice. */
const refusals = [
  [403, "retentionPolicyNotMet", "buckets update gs://bucket --clear-retention-period"],
  [403, "objectUnderActiveHold", '"gs://bucket/a/b/**" --no-event-based-hold'],
  [403, "accountDisabled", "Enable billing"],
  [403, "vpcServiceControls", "inside the perimeter"],
  [400, "UserProjectMissing", "Name a project that pays by `userProject`"],
  [400, "userProjectMissing", "Name a project that pays by `userProject`"],
  [403, "UserProjectAccessDenied", "Grant serviceusage.services.use"],
  [400, "userProjectInvalid", "Correct the project's id"],
  [403, "UserProjectAccountProblem", "see to its billing"],
  [403, "usageLimits.accessNotConfigured", "gcloud services enable storage.googleapis.com"],
  [400, "cloudKmsDisabledKey", "--default-encryption-key=KEY"],
] as const

eachTestHasItsScene()

describe("a bucket that doesn't exist", () => {
  it("ends the start with an error that names it and how to make it", async () => {
    const other = storeOn(scene.server, scene.clock, { bucket: "no-such-bucket" })
    const error: unknown = await other.start(within).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StoreMisconfiguredError)
    expect(error).toEqual(misconfigured(404, "no-such-bucket doesn't exist"))
    expect(String(error)).toContain("gcloud storage buckets create gs://no-such-bucket")
    await other.close()
  })

  // Tests input: The network may answer 401, 403, 429, 500, 200 with HTML, resets, silence or half a body.
  it.each(everyCall)(
    "is never an absent object to %s, also when it vanished after the start",
    async (_, call, kind) => {
      scene.server.buckets.drop("bucket")
      expect(await call()).toEqual({ kind, error: misconfigured(404, "bucket doesn't exist") })
    },
  )
})

describe("an answer that says no", () => {
  it.each(everyCall)("401 without credentials to renew ends %s for good", async (_, call, kind) => {
    scene.server.buckets.rules.token = "secret"
    expect(await call()).toEqual({ kind, error: misconfigured(401, "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE") })
  })

  it.each([
    ["a read", read, "failed", "storage.objects.get"],
    ["a write", write, "unknown", "storage.objects.create"],
    ["a delete", remove, "unknown", "storage.objects.delete"],
    ["a list", list, "failed", "storage.objects.list"],
  ] as const)("403 names the permission that %s lacks, and the role that has it", async (_, call, kind, permission) => {
    scene.server.buckets.rules.lacking = [permission]
    const answer = await call()
    expect(answer).toEqual({ kind, error: misconfigured(403, permission) })
    expect(String((answer as { error: unknown }).error)).toContain("roles/storage.objectUser")
  })

  it.each(["storage.objects.list", "storage.objects.get", "storage.objects.create", "storage.objects.delete"])(
    "a start without %s is refused",
    async (permission) => {
      scene.server.buckets.rules.lacking = [permission]
      const other = storeOn(scene.server, scene.clock, { prefix: "fresh" })
      await expect(other.start(within)).rejects.toEqual(misconfigured(403, permission))
      await other.close()
    },
  )

  // Tests stores: Each final refusal of Cloud Storage is an error with its own advice, and no contention.
  it.each(refusals)(
    "%i %s is an error of its own to every call, with what mends it: %s",
    async (status, reason, advice) => {
      const error = { code: status, message: "As GCS says it", errors: [{ message: "", domain: "global", reason }] }
      for (const [, call, kind] of everyCall) {
        scene.server.script({ status, body: JSON.stringify({ error }), applied: false })
        const answer = (await call()) as { readonly error: Error }
        expect(answer).toEqual({ kind, error: misconfigured(status, "As GCS says it") })
        expect(answer.error.message).toContain(advice)
        expect(answer.error.message).not.toContain("roles/storage.objectUser")
      }
    },
  )

  it.each([
    ["Project my-1 (#1) has billing disabled. Please enable it.", "Enable billing"],
    ["The billing account for the owning project is disabled in state absent", "Enable billing"],
    ["Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: x", "inside the perimeter"],
    ["Request had insufficient authentication scopes.", "--scopes=cloud-platform"],
  ])("403 that names no reason of its own is told by its text: %s", async (message, advice) => {
    const body = JSON.stringify({
      error: { code: 403, message, status: "PERMISSION_DENIED", errors: [{ reason: "forbidden" }] },
    })
    scene.server.script({ on: "POST", status: 403, body, applied: false })
    expect(await write()).toEqual({ kind: "unknown", error: misconfigured(403, advice) })
  })

  it("a front end's answer is told by the reason in its details, however long they are", async () => {
    const details = [{ description: "x".repeat(5000) }, { reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT" }]
    const body = JSON.stringify({ error: { code: 403, message: "No", status: "PERMISSION_DENIED", details } })
    scene.server.script({ on: "GET", status: 403, body })
    const answer = await scene.store.read(lease, { ...within, limit: 10 })
    expect(answer).toEqual({ kind: "failed", error: misconfigured(403, "--scopes=cloud-platform") })
  })

  it("412 that is no precondition's is not taken for one", async () => {
    const error = { code: 412, message: "No", errors: [{ reason: "orgPolicyConstraintFailed" }] }
    scene.server.script({ on: "POST", status: 412, body: JSON.stringify({ error }), applied: false })
    expect(await write()).toEqual({ kind: "unknown", error: misconfigured(412, "constraint") })
  })

  it("a rate limit that comes as a 403 passes", async () => {
    const body = JSON.stringify({
      error: { code: 403, message: "slow down", errors: [{ reason: "rateLimitExceeded" }] },
    })
    scene.server.script({ on: "POST", status: 403, body, applied: false })
    expect(await write()).toEqual({ kind: "unknown", error: unavailable(403, "slow down") })
  })

  it("a second write within a second is throttled, and then the object is as the first left it", async () => {
    scene.server.buckets.rules.spacing = true
    const first = await write()
    const generation = first.kind === "applied" ? first.generation : ""
    const second = await scene.store.put(lease, generation, bytes("2"), within)
    expect(second).toEqual({ kind: "unknown", throttled: true, error: unavailable(429, "one write a second") })
    expect(await read()).toMatchObject({ kind: "found", generation })
  })

  // Tests input.
  it("429 to a read is a failure that passes", async () => {
    scene.server.script({ on: "GET", status: 429, body: "" })
    expect(await read()).toEqual({ kind: "failed", error: unavailable(429) })
  })

  it.each([408, 409, 500, 502, 503, 504])("status %d says nothing about what became of a write", async (status) => {
    scene.server.script({ on: "POST", status, ...html }, { on: "GET", status, ...html })
    expect(await write()).toEqual({ kind: "unknown", error: unavailable(status) })
    expect(inBucket()).toBe(true)
    expect(await read()).toEqual({ kind: "failed", error: unavailable(status) })
  })

  it.each([400, 405, 413])("status %d is not worth another try", async (status) => {
    const body = JSON.stringify({ error: { code: status, message: "Bad thing" } })
    scene.server.script({ on: "POST", status, body, applied: false })
    expect(await write()).toEqual({ kind: "unknown", error: misconfigured(status, "Bad thing") })
  })
})

describe("an answer that isn't of GCS", () => {
  // Tests input.
  it.each(everyCall)("200 with a web page says nothing to %s", async (_, call, kind) => {
    scene.server.script({ ...html, status: 200, applied: false })
    expect(await call()).toEqual({ kind, error: unavailable(200, "proxy") })
  })

  it.each(everyCall)("404 with a web page says nothing to %s", async (_, call, kind) => {
    scene.server.script({ ...html, status: 404, applied: false })
    expect(await call()).toEqual({ kind, error: unavailable(404, "proxy") })
  })

  it.each(everyCall)("302 is not followed by %s", async (_, call, kind) => {
    scene.server.script({
      status: 302,
      headers: { location: `${scene.server.url}/elsewhere` },
      body: "",
      applied: false,
    })
    expect(await call()).toEqual({ kind, error: unavailable(302, "proxy") })
    expect(Object.values(scene.server.counts)).toEqual([1])
  })

  it.each(["{}", '{"generation":17}', '{"generation":"x"}', "[]", "null", '"1"', "", '{"generation":"1'])(
    "200 with %j doesn't make a write applied",
    async (body) => {
      scene.server.script({ on: "POST", status: 200, body })
      expect(await write()).toEqual({ kind: "unknown", error: unavailable(200) })
    },
  )

  it.each([
    "{}",
    "[]",
    '{"kind":"storage#objects","items":[null]}',
    '{"kind":"storage#objects","items":[{}]}',
    '{"kind":"storage#objects","items":["x"]}',
    '{"kind":"storage#objects","items":[{"name":"a/b/leases/x"}]}',
    "[",
    "7",
  ])("200 with %j is no list", async (body) => {
    scene.server.script({ on: "GET", status: 200, body })
    expect(await list()).toMatchObject({ kind: "failed", error: { _tag: "StoreUnavailableError" } })
  })

  it("ends the start", async () => {
    scene.server.script({ ...html, status: 200 })
    const other = storeOn(scene.server, scene.clock)
    await expect(other.start({ deadline: 900 })).rejects.toEqual(unavailable(200, "proxy"))
    await other.close()
  })
})
