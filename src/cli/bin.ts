#!/usr/bin/env node
/**
 * Where the `leasehold` command begins. A runtime that is too old can't even read the rest: nothing is loaded before
 * that is looked at, and what is written here is understood by every Node since 14.8. Where compiled code is kept is
 * said next: what is loaded before that is compiled anew each time.
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
  const { keepCompiledCode } = await import("./process/code-cache.ts")
  keepCompiledCode()
  const { begin } = await import("./begin.ts")
  await begin()
}
