// Adds up the JSON reports that vitest left in a folder and prints `<passed> <failed>`, then a line for each test that
// failed: its file, its name, and the first line of what it said. A report without one passed test counts as a failure:
// a run that tested nothing shows nothing. No dependency, and any Node, as .ci/run may have an old one.
import { readFileSync, readdirSync } from "node:fs"
import { join, relative } from "node:path"

const [folder] = process.argv.slice(2)
let passed = 0
let failed = 0
const failures = []
for (const name of readdirSync(folder)) {
  const report = JSON.parse(readFileSync(join(folder, name), "utf8"))
  passed += report.numPassedTests
  // A file that cannot be loaded is a failed suite without a failed test.
  const brokenFiles = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  )
  failed += report.numFailedTests + brokenFiles.length + (report.numPassedTests === 0 ? 1 : 0)
  for (const file of brokenFiles) failures.push([file.name, "could not be loaded", file.message])
  for (const file of report.testResults) {
    const failedTests = file.assertionResults.filter((test) => test.status === "failed")
    for (const test of failedTests) failures.push([file.name, test.fullName, test.failureMessages[0]])
  }
}
console.log(`${passed} ${failed}`)
for (const [file, name, message] of failures) {
  console.log(`${relative(process.cwd(), file)} > ${name}: ${String(message).split("\n")[0]}`)
}
