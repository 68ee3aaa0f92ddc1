// The least that a command under a lock file can be: takes the file, runs the command, gives the file back.
import { spawn } from "node:child_process"
import { closeSync, openSync, unlinkSync } from "node:fs"
import process from "node:process"

const [file, command, ...args] = process.argv.slice(2)
closeSync(openSync(file, "wx"))
spawn(command, args, { stdio: "inherit" }).on("exit", (code) => {
  unlinkSync(file)
  process.exit(code ?? 1)
})
