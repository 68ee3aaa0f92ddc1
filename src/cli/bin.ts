#!/usr/bin/env node
/**
 * Where the `leasehold` command begins. Compiled code is kept by Node between runs, which takes half of its start; so nothing
 * of ours is loaded before that is said.
 */
import module from "node:module"

// Deno keeps compiled code by itself, and has no such call.
module.enableCompileCache?.()
const { begin } = await import("./begin.ts")
await begin()
