// `npm run charts`: draws leasehold's own chart and its house. The chart is docs/sandbox-chart.svg, a constant for the
// live page, which never loads elkjs, and the text in docs/seeing-it.md; the house is docs/images/house.svg. A test
// says when one of them is out of date.
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { generated } from "./charts/generated.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

for (const [path, text] of Object.entries(await generated(root))) {
  writeFileSync(`${root}${path}`, text)
  console.log(path)
}
