// Options of the GCS store that can't work: each is refused when the store is made, with its own message.
import { Storage } from "@google-cloud/storage"
import { describe, expect, it } from "vitest"
import { InvalidConfigError, InvalidKeyError } from "../../../src/locks/api/errors.ts"
import { gcsStore, type GcsStoreOptions } from "../../../src/locks/stores/gcs/mod.ts"

const storage = new Storage({ projectId: "project" })

function refusal(options: unknown): unknown {
  try {
    gcsStore(options as GcsStoreOptions)
  } catch (error) {
    return error
  }
  return undefined
}

describe("gcsStore refuses", () => {
  it.each([undefined, "", "ab", "gs://bucket", "bucket/prefix", "Bucket", "my bucket", "-bucket", 7, "b".repeat(223)])(
    "the bucket %j",
    (bucket) => {
      expect(refusal({ bucket })).toBeInstanceOf(InvalidConfigError)
      expect(String(refusal({ bucket }))).toContain("is not the name of a bucket")
    },
  )

  it.each([
    ["/a", "has an empty part"],
    ["a/", "has an empty part"],
    ["a//b", "has an empty part"],
    ["a/../b", "has a . or .. part"],
    [".", "has a . or .. part"],
    ["a\nb", "has a control character"],
    ["a*", "patterns"],
    ["e\u0301", "normal form C"],
    ["\ud800", "lone surrogate"],
    ["a".repeat(401), "is over 400 bytes"],
    [".well-known/acme-challenge/x", "reserved by GCS"],
    [7, "is not a string"],
  ])("the prefix %j: it %s", (prefix, problem) => {
    expect(refusal({ bucket: "bucket", prefix })).toBeInstanceOf(InvalidConfigError)
    expect(String(refusal({ bucket: "bucket", prefix }))).toContain(problem)
  })

  // Tests rule 7: A key's record can be an object that others name, and never one of leasehold's own.
  it.each([
    ["", "is empty"],
    ["leases/k", "folder named leases"],
    ["team/state/k/head", "folder named state"],
    ["a/store/identity", "folder named store"],
    ["probe/x", "folder named probe"],
    ["processes/x", "folder named processes"],
    ["a/../leases/k", "has a . or .. part"],
    ["/leases/k", "has an empty part"],
    ["locks/", "has an empty part"],
    ["a".repeat(1025), "is over 1024 bytes"],
    ["a\nb", "has a control character"],
    [7, "is not a string"],
    [null, "is not a string"],
  ])("the object name %j: it %s", (name, problem) => {
    const error = refusal({ bucket: "bucket", objectNames: { k: name } })
    expect(error).toBeInstanceOf(InvalidConfigError)
    expect(String(error)).toContain(problem)
  })

  it("object names that are no object, that are of no key, or of two", () => {
    expect(String(refusal({ bucket: "bucket", objectNames: "locks/k" }))).toContain("is no object")
    expect(refusal({ bucket: "bucket", objectNames: { "..": "locks/k" } })).toBeInstanceOf(InvalidKeyError)
    const error = refusal({ bucket: "bucket", objectNames: { a: "locks/k", b: "locks/k" } })
    expect(error).toBeInstanceOf(InvalidConfigError)
    expect(String(error)).toContain('"a" and "b" have one object')
  })

  it.each(["localhost:4443", "ftp://host", "http://", "", 7])("the endpoint %j", (endpoint) => {
    expect(refusal({ bucket: "bucket", endpoint })).toBeInstanceOf(InvalidConfigError)
    expect(String(refusal({ bucket: "bucket", endpoint }))).toContain("is not an http or https URL")
  })

  it.each(["", "My project", "a/b", "p&x=y", 7, null])("the userProject %j", (userProject) => {
    expect(refusal({ bucket: "bucket", userProject })).toBeInstanceOf(InvalidConfigError)
    expect(String(refusal({ bucket: "bucket", userProject }))).toContain("is not the id of a project")
  })

  it("an endpoint beside a client, which has its own", () => {
    const error = refusal({ bucket: "bucket", storage, endpoint: "http://127.0.0.1:1" })
    expect(error).toBeInstanceOf(InvalidConfigError)
    expect(String(error)).toContain("apiEndpoint")
  })

  it.each([null, {}, "storage"])("the client %j", (notOne) => {
    expect(refusal({ bucket: "bucket", storage: notOne })).toBeInstanceOf(InvalidConfigError)
  })

  it.each([0, -1, NaN, Infinity, "soon", "10s"])("the requestTimeout %j", (requestTimeout) => {
    const error = refusal({ bucket: "bucket", requestTimeout })
    expect(error).toBeInstanceOf(InvalidConfigError)
    expect(String(error)).toContain("requestTimeout")
  })

  it("none of these", () => {
    expect(refusal({ bucket: "a.b-c_1" })).toBeUndefined()
    expect(refusal({ bucket: "bucket", prefix: "teams/blå/1", requestTimeout: "500 ms" })).toBeUndefined()
    expect(refusal({ bucket: "bucket", storage, requestTimeout: 1 })).toBeUndefined()
    for (const userProject of ["my-project-1", "1234567890", "example.com:my-project"])
      expect(refusal({ bucket: "bucket", userProject })).toBeUndefined()
  })
})
