/**
 * `npm run page`: bundles the live page with its style into one HTML file that asks for nothing, and writes it as a
 * string to src/inspector/live/server/page-html.ts. The same sources give the same bytes; a test compares them with
 * what is committed.
 */
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Plugin, rolldown } from "rolldown"
import { RECORDING_PLACE } from "../src/inspector/live/recording.ts"
import { chartSteps } from "./chart-steps.ts"

const root = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))
const target = "src/inspector/live/server/page-html.ts"

/** Whose code is in the bundle. Their licences ask that their text goes with it. */
const LIBRARIES = ["lit-html", "uplot"]

/** The module that holds the page, as text. */
export async function pageModule(): Promise<string> {
  const script = (await bundled()).replaceAll("</script", String.raw`<\/script`)
  const style = shortened(
    readFileSync(root("node_modules/uplot/dist/uPlot.min.css"), "utf8") +
      readFileSync(root("src/inspector/page/page.css"), "utf8"),
  )
  const policy = policyOf(script, style)
  const html = htmlOf(script, style, policy)
  return `// Written by \`npm run page\` from src/inspector/page. Do not edit.

/** The live page: one HTML file that asks for nothing. \`${RECORDING_PLACE}\` in it is where a recorded trace goes. */
export const pageHtml: string = ${JSON.stringify(html)}

/** Its Content-Security-Policy: what is in the page, and the server that it came from. Not said: who may frame it. */
export const pagePolicy: string = ${JSON.stringify(policy)}
`
}

/** What the page imports as `chart-steps`: a table that is made here. */
const steps: Plugin = {
  name: "chart steps",
  resolveId: (id) => (id === "chart-steps" ? "\0chart-steps" : undefined),
  load: (id) => (id === "\0chart-steps" ? `export const chartSteps = ${JSON.stringify(chartSteps())}` : undefined),
}

async function bundled(): Promise<string> {
  const bundle = await rolldown({
    plugins: [steps],
    input: root("src/inspector/page/main.ts"),
    platform: "browser",
    treeshake: { moduleSideEffects: false },
    tsconfig: false,
  })
  const { output } = await bundle.generate({ format: "iife", minify: true, comments: { legal: false } })
  await bundle.close()
  return output[0].code.trim()
}

/** Without comments and the white space that says nothing. */
function shortened(css: string): string {
  return css
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{};,>]) ?/g, "$1")
    .replaceAll(/: /g, ":")
    .replaceAll(";}", "}")
    .trim()
}

function policyOf(script: string, style: string): string {
  const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ")
}

function htmlOf(script: string, style: string, policy: string): string {
  const licences = LIBRARIES.map((name) => {
    const { version } = JSON.parse(readFileSync(root(`node_modules/${name}/package.json`), "utf8")) as {
      version: string
    }
    return `${name} ${version}\n\n${readFileSync(root(`node_modules/${name}/LICENSE`), "utf8").trim()}`
  })
  return `<!doctype html>
<!--
With code of other projects:

${licences.join("\n\n").replaceAll("--", "- -")}
-->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="icon" href="data:,">
<title>leasehold</title>
<style>${style}</style>
</head>
<body>
<noscript>This page needs JavaScript: it draws what workers tell it.</noscript>
${RECORDING_PLACE}
<script>${script}</script>
</body>
</html>
`
}

if (import.meta.main) {
  writeFileSync(root(target), await pageModule())
  console.log(`${target} is written`)
}
