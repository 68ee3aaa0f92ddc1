/**
 * The GCS of a test run: one server for all its test files, or the real bucket that LEASEHOLD_TEST_BUCKET names. Where
 * neither can be had the run fails; it never skips.
 */
import process from "node:process"
import type { TestProject } from "vitest/node"
import { startGcsServer } from "./gcs-server.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Where tests keep their objects. */
    gcs: { readonly bucket: string; readonly prefix: string; readonly endpoint: string | null }
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const real = process.env["LEASEHOLD_TEST_BUCKET"]
  if (real !== undefined) {
    const [, bucket, prefix = ""] = /^gs:\/\/([^/]+)(?:\/(.+?)\/?)?$/.exec(real) ?? []
    if (bucket === undefined)
      throw new Error(`LEASEHOLD_TEST_BUCKET is ${real}; give gs://bucket or gs://bucket/prefix`)
    project.provide("gcs", { bucket, prefix, endpoint: null })
    return async () => {}
  }
  const server = await startGcsServer()
  await server.createBucket("leasehold-test")
  project.provide("gcs", { bucket: "leasehold-test", prefix: "", endpoint: server.endpoint })
  return async () => server[Symbol.asyncDispose]()
}
