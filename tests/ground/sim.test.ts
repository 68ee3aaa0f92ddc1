// The line with which a failure of `npm run sim` says that a seed is run again: it has to give the very same run.
import { expect, it } from "vitest"
import { argumentsOf, rerunLine } from "../../scripts/sim/arguments.ts"

/** What the script is told by a line of a shell. */
const told = (line: string): ReturnType<typeof argumentsOf> => {
  const words = line.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ""))
  expect(words.slice(0, 4)).toEqual(["npm", "run", "sim", "--"])
  return argumentsOf(words.slice(4))
}

it("runs the seed for as long as it was run", () => {
  for (const duration of ["30 s", "2 min", "1 h"]) {
    const first = argumentsOf(["--seeds", "50", "--from", "10", "--jobs", "2", "--first", "--duration", duration])
    expect(told(rerunLine(17, first, "node"))).toEqual(argumentsOf(["--seed", "17", "--duration", duration]))
  }
})

it("runs it on the runtime on which it failed", () => {
  const line = rerunLine(17, argumentsOf(["--runtime", "deno"]), "deno")
  expect(told(line)).toEqual(argumentsOf(["--seed", "17", "--runtime", "deno"]))
})

it("refuses what is no option", () => {
  expect(() => argumentsOf(["--sedes", "7"])).toThrow("sedes")
})
