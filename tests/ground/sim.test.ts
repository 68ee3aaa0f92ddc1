// The words of `npm run sim`: the line with which a failure says that a seed is run again has to give the very same run, and
// words that ask for no run are refused.
import { spawnSync } from "node:child_process"
import process from "node:process"
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

it.each([
  "--runtime nodejs",
  "--seeds 0",
  "--seeds ten",
  "--seeds=",
  "--from 20001 --seeds 100",
  "--from 201",
  "--seed=-1",
  "--jobs 0",
  "--duration 0",
  "--duration soon",
])("refuses what would run nothing: %s", (line) => {
  expect(() => argumentsOf(line.split(" "))).toThrow(/ is no|there are no seeds/)
})

it("ends with 2 and the usage where the words ask for no run", () => {
  const script = "Deno" in globalThis ? ["run", "-A", "scripts/sim.ts"] : ["scripts/sim.ts"]
  const { status, stdout, stderr } = spawnSync(process.execPath, [...script, "--from", "20001", "--seeds", "100"], {
    encoding: "utf8",
  })
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" })
  expect(stderr).toMatch(/^there are no seeds from 20001 to 100\nusage: npm run sim/)
})
