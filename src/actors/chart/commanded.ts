/**
 * The chart with its commands carried out. One machine serves all sandboxes of a manager. A command goes to the
 * handlers of the actor that it came from. What a command means is the runtime's to say.
 */
import { sandboxChart } from "./chart.ts"
import type { ChartCommands, ChartContext } from "./types.ts"

/** What each command does in one sandbox. */
export type CommandHandlers = {
  readonly [K in keyof ChartCommands]: (context: ChartContext, params: ChartCommands[K]) => void
}

/** The chart, and the handlers of its commands. */
export interface CommandedChart {
  readonly chart: typeof sandboxChart
  /** By actor id. A command of an actor that has none does nothing. */
  readonly handlers: Map<string, CommandHandlers>
}

interface CommandSource {
  readonly context: ChartContext
  readonly self: { readonly id: string }
}

/** A chart for the sandboxes of one manager. */
export const commandedChart = (): CommandedChart => {
  const handlers = new Map<string, CommandHandlers>()
  const handled =
    <K extends keyof ChartCommands>(command: K) =>
    ({ context, self }: CommandSource, params: ChartCommands[K]): void =>
      handlers.get(self.id)?.[command](context, params)
  const actions = {
    backOff: handled("backOff"),
    acquire: handled("acquire"),
    reconcile: handled("reconcile"),
    restore: handled("restore"),
    run: handled("run"),
    abortWork: handled("abortWork"),
    settle: handled("settle"),
    reportStuck: handled("reportStuck"),
    checkpoint: handled("checkpoint"),
    reportFailure: handled("reportFailure"),
    close: handled("close"),
    release: handled("release"),
    abandon: handled("abandon"),
  } satisfies Record<keyof ChartCommands, unknown>
  return { chart: sandboxChart.provide({ actions }), handlers }
}
