/** Code of the user's that the command loads prints beside the result: standard output is the result's alone. */
import process from "node:process"

/** What prints to standard output, by Node's streams and by either runtime's console. */
const TELLING = ["log", "info", "debug", "table", "dir"] as const

/** Runs it; what is printed meanwhile goes to standard error. Settles as it does. */
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
