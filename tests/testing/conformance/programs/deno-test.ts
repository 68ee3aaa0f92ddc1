// What docs/testing.md says of Deno.test, word for word.
import { conformance } from "leasehold/testing"
import { makeStore } from "./make-store.ts"

declare const Deno: { test(name: string, run: () => Promise<void>): void }

// --- example: under Deno
for (const { name, run } of conformance(makeStore)) Deno.test(name, run)
// --- end
