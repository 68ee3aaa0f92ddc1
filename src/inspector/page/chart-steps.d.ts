/**
 * What scripts/chart-steps.ts makes of the sandbox chart: which transitions lead from one innermost state to another.
 */
declare module "chart-steps" {
  /** By step, `from>to`. */
  export const chartSteps: Readonly<Record<string, { readonly ids: readonly string[]; readonly isSure: boolean }>>
}
