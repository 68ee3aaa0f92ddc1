/**
 * `leasehold chart [module]`: draws a machine of the user's, or leasehold's own chart, as SVG, Mermaid or text. With a
 * trace the drawing tells how often each transition of leasehold's own chart was taken.
 *
 * The module is run, from the path that is given. No other module is looked for.
 */
import { writeFileSync } from "node:fs"
import { extname, resolve } from "node:path"
import type { AnyStateMachine } from "xstate"
import { toAscii } from "../../../draw/ascii.ts"
import type { CountOptions } from "../../../draw/machine/counts.ts"
import { toMermaid } from "../../../draw/mermaid.ts"
import { toSvg } from "../../../draw/svg/svg.ts"
import { EXIT } from "../../errors/exit-codes.ts"
import { UnwrittenError } from "../../errors/unwritten-error.ts"
import { UsageError } from "../../errors/usage-error.ts"
import type { Call, CommandAction } from "../../frame/syntax.ts"
import { textOption } from "../../stores/session.ts"
import { countsOf } from "./counts.ts"
import { machineOf } from "./module.ts"

type Form = "svg" | "mermaid" | "ascii"

/** The form of a drawing, by the ending of its file. */
const byExtension: Readonly<Record<string, Form>> = {
  ...{ ".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid", ".txt": "ascii" },
}
/** The least width of a drawing as text, in columns. Narrower terminals wrap its lines. */
const LEAST_COLUMNS = 40

export const chart: CommandAction = async (call) => {
  const form = formOf(call)
  const [module] = call.operands
  const trace = textOption(call.options, "trace")
  const key = textOption(call.options, "key")
  if (trace === undefined && key !== undefined)
    throw new UsageError("--key is of a trace", "Give the trace by --trace FILE")
  if (trace !== undefined && module !== undefined)
    throw new UsageError("A trace tells of leasehold's own chart", "Leave out the module, or --trace")
  const counted = trace === undefined ? undefined : countsOf(call, trace, key)
  const { sandboxChart } = await import("../../../actors/chart/chart.ts")
  const machine = module === undefined ? sandboxChart : await machineOf(call.io, module)
  const drawing = await drawn(call, form, machine, counted)
  const file = textOption(call.options, "output")
  if (file === undefined) call.output.result({ form, drawing }, () => drawing.trimEnd())
  else written(resolve(call.io.cwd, file), drawing)
  return EXIT.ok
}

function formOf({ options }: Call): Form {
  const given = (["svg", "mermaid", "ascii"] as const).filter((form) => options[form] === true)
  if (given.length > 1) throw new UsageError(`--${given.join(" and --")} are two forms`, "Give one of them")
  const [form] = given
  const file = textOption(options, "output")
  if (form !== undefined || file === undefined) return form ?? "ascii"
  const byName = byExtension[extname(file).toLowerCase()]
  if (byName !== undefined) return byName
  throw new UsageError(
    `${JSON.stringify(file)} doesn't say which form is wanted`,
    `Add --svg, --mermaid or --ascii, or let it end in ${Object.keys(byExtension).join(", ")}`,
  )
}

/** The drawing. The SVG of leasehold's own chart is drawn at build time, so it needs no elkjs. */
async function drawn({ io }: Call, form: Form, machine: AnyStateMachine, counted?: CountOptions): Promise<string> {
  if (form === "mermaid") return toMermaid(machine, counted)
  if (form === "ascii") {
    const { isTTY, columns = 80 } = io.stdout
    return toAscii(machine, { ...counted, ...(isTTY && { width: Math.max(LEAST_COLUMNS, columns) }) })
  }
  const { sandboxChart } = await import("../../../actors/chart/chart.ts")
  if (machine !== sandboxChart || counted !== undefined) return toSvg(machine, counted)
  return (await import("../../../inspector/live/sandbox-chart-svg.ts")).sandboxChartSvg
}

function written(path: string, drawing: string): void {
  try {
    writeFileSync(path, drawing)
  } catch (cause) {
    throw new UnwrittenError(cause as Error)
  }
}
