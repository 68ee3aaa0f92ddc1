// The least that a wait by looking can be: a process that lists a directory once a second.
import { readdirSync } from "node:fs"
import process from "node:process"

const [directory] = process.argv.slice(2)
setInterval(() => readdirSync(directory), 1000)
