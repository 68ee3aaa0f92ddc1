// What docs/testing.md says of node:test, word for word.

// --- example: under node:test
import { test } from "node:test"
import { conformance } from "leasehold/testing"
import { makeStore } from "./make-store.ts"

for (const { name, run } of conformance(makeStore)) void test(name, run)
// --- end
