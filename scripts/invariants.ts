// `npm run invariants`: writes docs/invariants.md from what the tests say that they pin. It writes nothing, and fails,
// where a rule has no test or a test names a rule that isn't there. A test says when the page is out of date.
import { readFileSync, writeFileSync } from "node:fs"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { faultsOf, pageOf } from "./invariants/page.ts"
import { headingsOf } from "./invariants/parts.ts"
import { tagsOf } from "./invariants/tags.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const headings = headingsOf(readFileSync(`${root}docs/protocol.md`, "utf8"))
const tags = tagsOf(root)
const faults = faultsOf(headings, tags)

if (faults.length === 0) {
  writeFileSync(`${root}docs/invariants.md`, pageOf(headings, tags))
  console.log("docs/invariants.md")
} else {
  console.error(faults.join("\n"))
  process.exitCode = 1
}
