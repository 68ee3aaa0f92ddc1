#!/usr/bin/env node
/**
 * The beginning of the `leasehold` command. A runtime that is too old can't parse the other files, so its version is
 * judged before any is loaded. This file is understood by every Node since 14.8. The cache of compiled code is set up
 * next, since files that are loaded before it are compiled at each start.
 */

/** As package.json says. */
const LEAST = 24

// An import would be loaded before this runs.
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
