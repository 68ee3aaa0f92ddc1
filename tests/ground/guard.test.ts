/** That no test has less time than the guard against hangs: a busy machine takes its time, and CI is one. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import config from "../../vitest.config.ts"

const tests = fileURLToPath(new URL("..", import.meta.url))

/** A time as the last argument of a test or a hook, or as its option. */
const OWN =
  /^ {0,2}\}, ([\d_]+)\)$|^ {2,4}([\d_]+),\n\)|^ *(?:it|test|describe).*\{ timeout: ([\d_]+) \}|^ *\{ timeout: ([\d_]+) \},$/gm

it("no test has a time of its own that is shorter than everybody's", () => {
  const guard = config.test!.testTimeout!
  const files = readdirSync(tests, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.ts"))
  const own = files.flatMap((file) =>
    Array.from(readFileSync(`${tests}${file}`, "utf8").matchAll(OWN), (found) => {
      const ms = Number(
        found
          .slice(1)
          .find((part) => part !== undefined)!
          .replaceAll("_", ""),
      )
      return { file, ms }
    }),
  )
  expect(own.filter(({ ms }) => ms < guard)).toEqual([])
  expect(own.length).toBeGreaterThan(2)
})
