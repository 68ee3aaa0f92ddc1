#!/usr/bin/env node
/**
 * Where the `leasehold` command begins. A runtime that is too old can't even read the rest: nothing is loaded before that is
 * looked at, and what is written here is understood by every Node since 14.8. Compiled code is kept by Node between runs, which
 * takes half of its start; so nothing of ours is loaded before that is said either.
 */

/** As package.json says. */
const LEAST = 24

// Whatever is imported is loaded first.
const { process } = globalThis
const [major] = process.versions.node.split(".")
if (Number(major) < LEAST) {
  process.stderr.write(`leasehold needs Node ${LEAST} or Deno 2.9, and this is Node ${process.versions.node}.\n`)
  process.exitCode = 78 // EXIT.configuration
} else {
  // Deno keeps compiled code by itself, and has no such call.
  process.getBuiltinModule("node:module").enableCompileCache?.()
  const { begin } = await import("./begin.ts")
  await begin()
}
