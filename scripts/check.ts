// `npm run check`: everything that can be said of the project without running it. Each step runs even when one before
// it failed, so that one run names all there is to mend; the exit code is 1 when any failed.
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import manifest from "../deno.json" with { type: "json" }
import { house } from "./house.ts"
import { pageTypes } from "./page-types.ts"
import { type Outcome, run } from "./run.ts"

/** An error class's own name for what its base documents, and the constructor that the details' type documents. */
const documentedByBase = /^\s*\d+ \|\s+(readonly (_tag|code|retryable) =|constructor\(details: ErrorDetails)/m

/**
 * Other findings of this linter are about types that JSR's page would not link; undocumented exports are ours to mend.
 */
function undocumentedExports(): Outcome {
  const { ok, output } = run("deno", "doc", "--lint", ...Object.values(manifest.exports))
  const findings = output.split(/^(?=error)/m).filter((finding) => finding.startsWith("error["))
  if (ok || findings.length === 0) return { ok, output }
  const undocumented = findings.filter(
    (finding) => finding.startsWith("error[missing-jsdoc]") && !documentedByBase.test(finding),
  )
  return { ok: undocumented.length === 0, output: undocumented.join("") }
}

/** Packs what npm would publish (its `prepare` builds it) and lets two judges look at the tarball itself. */
function tarball(): Outcome {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-pack-"))
  try {
    const packed = run("npm", "pack", "--pack-destination", folder)
    if (!packed.ok) return packed
    const file = join(folder, readdirSync(folder)[0] ?? "")
    const outcomes = [run("publint", "--strict", file), run("attw", "--profile", "esm-only", file)]
    return { ok: outcomes.every(({ ok }) => ok), output: outcomes.map(({ output }) => output).join("\n") }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const steps: Record<string, () => Outcome> = {
  types: () => run("tsc"),
  "types of the live page": () => run("tsc", "-p", "src/inspector/page"),
  "types of the pages": pageTypes,
  lint: () => run("oxlint"),
  house,
  format: () => run("oxfmt", "--check"),
  "types on Deno": () => run("deno", "check"),
  "JSR package": () => run("deno", "publish", "--dry-run", "--allow-dirty"),
  documentation: undocumentedExports,
  "npm package": tarball,
}

const failed: string[] = []
for (const [name, step] of Object.entries(steps)) {
  const start = performance.now()
  const { ok, output } = step()
  console.log(`${ok ? "ok    " : "FAILED"} ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
  if (!ok) {
    failed.push(name)
    console.log(output)
  }
}
if (failed.length > 0) {
  console.log(`check: failed: ${failed.join(", ")}`)
  process.exitCode = 1
}
