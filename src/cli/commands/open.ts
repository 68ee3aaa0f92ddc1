/** `leasehold open <trace>`: the live page with a recorded trace in it, served until its user has enough. */
import { Access } from "../../inspector/live/server/access.ts"
import { pageAnswer, SAFE_HEADERS } from "../../inspector/live/server/page-answer.ts"
import { timelineHtml } from "../../inspector/timeline.ts"
import { parseTrace } from "../../trace/trace-text.ts"
import { listen } from "../../web/serve.ts"
import { EXIT } from "../errors/exit-codes.ts"
import { UsageError } from "../errors/usage-error.ts"
import type { CommandAction } from "../frame/syntax.ts"
import { textFile } from "../process/text-file.ts"
import { untilEnded } from "../process/until-ended.ts"

export const open: CommandAction = async ({ operands, options, io, output }) => {
  const [file = ""] = operands
  const port = portOf(options["port"])
  const trace = parseTrace(textFile(io, file, "Give the file of a trace"))
  const html = timelineHtml(trace, { title: file })
  const token = `${io.clock.id()}${io.clock.id()}`
  const access = new Access({ token, hosts: [], authority: undefined, signatures: undefined })
  await using server = await listening((request) => answer(request, access, html), port)
  const url = `http://127.0.0.1:${server.port}/?token=${token}`
  output.result({ url, lines: trace.lines.length }, ({ bold }) => bold(url))
  output.note("serving", "it is served until Ctrl-C")
  await untilEnded()
  return EXIT.ok
}

async function answer(request: Request, access: Access, html: string): Promise<Response> {
  const url = new URL(request.url)
  const refused = (status: number, error: string): Response =>
    new Response(`${error}\n`, { status, headers: SAFE_HEADERS })
  if (url.pathname !== "/") return refused(404, "There is only the page, at /.")
  if (request.method !== "GET") return refused(405, "The page can only be read.")
  const asker = access.judge(request, url, { isPage: true, body: "" })
  return typeof asker === "object" ? refused(asker.status, asker.error) : pageAnswer(html)
}

async function listening(handle: (request: Request) => Promise<Response>, port: number): ReturnType<typeof listen> {
  try {
    return await listen(handle, { host: "127.0.0.1", port })
  } catch (error) {
    throw new UsageError(
      `Port ${port} can't be listened at: ${(error as Error).message}`,
      "Give another --port, or none",
    )
  }
}

function portOf(text: string | true | undefined): number {
  if (text === undefined) return 0
  if (typeof text === "string" && /^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new UsageError(`--port is ${JSON.stringify(text)}`, "Give a whole number from 0 to 65535")
}
