/** Keeps standard output for the result: what the user's code prints meanwhile goes to standard error. */
import process from "node:process"

/** The functions that print to standard output: of Node's streams, and of either runtime's console. */
const TELLING = ["log", "info", "debug", "table", "dir"] as const

/** Runs it, with its prints at standard error. Settles as it does. */
export async function printingAside<A>(run: () => Promise<A>): Promise<A> {
  const { stdout, stderr } = process
  const { console } = globalThis
  const before = { write: Object.getOwnPropertyDescriptor(stdout, "write"), console: { ...console } }
  stdout.write = stderr.write.bind(stderr)
  for (const name of TELLING) console[name] = (...words: unknown[]) => console.error(...words)
  try {
    return await run()
  } finally {
    if (before.write === undefined) Reflect.deleteProperty(stdout, "write")
    else Object.defineProperty(stdout, "write", before.write)
    for (const name of TELLING) console[name] = before.console[name]
  }
}
