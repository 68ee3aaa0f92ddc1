// Pins that the drawings of leasehold's own chart that were committed are those of the chart as it is
// (`npm run charts`).
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { generated } from "../../scripts/charts/generated.ts"
import { sandboxChartSvg } from "../../src/inspector/live/sandbox-chart-svg.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

// Tests drawings: leasehold's own chart in the pages is the chart as it is.
it("are up to date", async () => {
  const files = await generated(root)
  for (const [path, text] of Object.entries(files)) expect(readFileSync(`${root}${path}`, "utf8")).toBe(text)
  expect(sandboxChartSvg).toBe(files["docs/sandbox-chart.svg"])
  expect(readFileSync(`${root}README.md`, "utf8")).toContain("](docs/sandbox-chart.svg)")
})
