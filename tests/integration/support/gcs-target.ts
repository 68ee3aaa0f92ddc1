/** Where a test of the project `gcs` keeps its objects: the run's bucket, under a prefix that no other test has. */
import { inject } from "vitest"
import { liveClock } from "../../../src/runtime/time/clock.ts"
import type {} from "./gcs-global-setup.ts"

/** The options of a GCS store; `endpoint` is missing on a real bucket. */
export interface GcsTarget {
  readonly bucket: string
  readonly prefix: string
  readonly endpoint?: string
}

/** A fresh one at each call. */
export function gcsTarget(): GcsTarget {
  const { bucket, prefix, endpoint } = inject("gcs")
  const own = `${prefix === "" ? "" : `${prefix}/`}test-${liveClock.id()}`
  return endpoint === null ? { bucket, prefix: own } : { bucket, prefix: own, endpoint }
}
