#!/usr/bin/env node
/**
 * Where the `leasehold` command begins. Compiled code is kept by Node between runs, which takes half of its start; so nothing
 * of ours is loaded before that is said.
 */
import module from "node:module"
import process from "node:process"

// Deno keeps compiled code by itself, and has no such call.
module.enableCompileCache?.()
const { begin } = await import("./begin.ts")
const ending = await begin(process.argv.slice(2))
if (typeof ending === "string") process.kill(process.pid, ending)
else process.exit(ending)
