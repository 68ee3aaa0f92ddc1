/** `leasehold top <address or trace>`: a fleet in the terminal, or as lines for a log. */
import { parseSearch, type Search } from "../../../inspector/live/model/search.ts"
import { EXIT } from "../../errors/exit-codes.ts"
import { UsageError } from "../../errors/usage-error.ts"
import type { CommandAction } from "../../frame/syntax.ts"
import type { Io } from "../../process/io.ts"
import { liveFeed, recordedFeed } from "./feed.ts"
import { plain } from "./plain.ts"
import { screen } from "./screen.ts"

export const top: CommandAction = async (call) => {
  const { operands, options, io, output } = call
  const what = operands[0] ?? pageOf(io)
  const typed = options["search"] === undefined ? "" : String(options["search"])
  const search = searchOf(typed)
  const feed = /^https?:\/\//i.test(what) ? liveFeed(what, io.clock) : recordedFeed(io, what)
  const isPlain = options["plain"] === true || output.json || !io.stdout.isTTY || io.env["TERM"] === "dumb"
  await (isPlain ? plain(call, feed, search) : screen(call, feed, typed))
  return EXIT.ok
}

/**
 * The page's address, with its token, from the environment. Other users can read arguments, but not the environment.
 */
function pageOf({ env }: Io): string {
  const { LEASEHOLD_PAGE: page } = env
  if (page !== undefined && page !== "") return page
  throw new UsageError(
    "There is neither an address nor a trace",
    "Give one, or set LEASEHOLD_PAGE to the page's address",
  )
}

function searchOf(text: string): Search {
  const search = parseSearch(text)
  if ("problem" in search) throw new UsageError(search.problem, `See --search ${JSON.stringify(search.word)}`)
  return search
}
