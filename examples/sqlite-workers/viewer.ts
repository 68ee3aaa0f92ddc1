// Who looks on at the job. At a terminal there may be somebody, who needs a moment to open the page: the whole job is
// over in two seconds. Elsewhere nobody is waited for.
import process from "node:process"
import { clearTimeout, setTimeout } from "node:timers"

/** A terminal that nobody sits at, like that of a container, is late by this and no more. */
const OPENED_WITHIN_MS = 30_000

/** Settles when the job is to begin. Rejects with the signal's reason as soon as it aborts. */
export async function viewerReady(signal: AbortSignal): Promise<void> {
  const { stdin, stdout } = process
  if (!stdin.isTTY || !stdout.isTTY) return
  signal.throwIfAborted()
  console.log(`Open it, then press Enter: the job begins. It does in ${OPENED_WITHIN_MS / 1000} s in any case.`)
  const { promise: begun, resolve: begin } = Promise.withResolvers<unknown>()
  const late = setTimeout(begin, OPENED_WITHIN_MS)
  signal.addEventListener("abort", begin)
  stdin.on("data", begin).on("end", begin)
  await begun
  stdin.off("data", begin).off("end", begin).pause()
  signal.removeEventListener("abort", begin)
  clearTimeout(late)
  signal.throwIfAborted()
}
