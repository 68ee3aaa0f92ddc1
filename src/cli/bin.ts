#!/usr/bin/env node
/** Where the `leasehold` command begins. Compiled code is kept by Node between runs, which halves the time to start. */
import module from "node:module"
import { homedir } from "node:os"
import process from "node:process"
import { processIo } from "./io.ts"

// Deno keeps compiled code by itself, and has no such call.
module.enableCompileCache?.()
const { main } = await import("./main.ts")
const ending = await main(process.argv.slice(2), processIo(homedir))
if (typeof ending === "string") process.kill(process.pid, ending)
else process.exit(ending)
