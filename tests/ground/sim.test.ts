// The words of `npm run sim`: the line with which a failure says that a seed is run again has to give the very same
// run, and words that ask for no run are refused.
import { spawnSync } from "node:child_process"
import process from "node:process"
import { expect, it } from "vitest"
import { argumentsOf, isTwice, rerunLine, seedsOf } from "../../scripts/sim/arguments.ts"

/** What the script is told by a line of a shell. */
const told = (line: string): ReturnType<typeof argumentsOf> => {
  const words = line.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ""))
  expect(words.slice(0, 4)).toEqual(["npm", "run", "sim", "--"])
  return argumentsOf(words.slice(4))
}

// Tests simulations: A failed simulation says how to run it again, with fewest faults, and leaves its trace.
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

it("takes --seeds for how many, from 1 on or from the one that is said", () => {
  expect(seedsOf(argumentsOf(["--seeds", "3"]))).toEqual([1, 2, 3])
  expect(seedsOf(argumentsOf(["--seeds", "3", "--from", "500001"]))).toEqual([500_001, 500_002, 500_003])
  expect(seedsOf(argumentsOf(["--seed", "0", "--seeds", "3"]))).toEqual([0])
  expect(seedsOf(argumentsOf([]))).toHaveLength(200)
})

it("runs each seed twice, and of a long run one in twenty unless all are asked for", () => {
  const twice = (...words: readonly string[]) => {
    const args = argumentsOf(words)
    return seedsOf(args).filter((seed) => isTwice(args, seed)).length
  }
  expect(twice("--seeds", "200", "--from", "7")).toBe(200)
  expect(twice("--seed", "7")).toBe(1)
  expect(twice("--seeds", "60000", "--from", "7")).toBe(3000)
  expect(twice("--seeds", "400", "--twice")).toBe(400)
})

it("refuses what is no option", () => {
  expect(() => argumentsOf(["--sedes", "7"])).toThrow("sedes")
})

// Tests simulations: A simulation that would run nothing is refused.
it.each([
  "--runtime nodejs",
  "--seeds 0",
  "--seeds ten",
  "--seeds=",
  "--from -1",
  "--from 9007199254740991",
  "--seed=-1",
  "--jobs 0",
  "--duration 0",
  "--duration soon",
])("refuses what would run nothing: %s", (line) => {
  expect(() => argumentsOf(line.split(" "))).toThrow(/ is no|ambiguous/)
})

it("ends with 2 and the usage where the words ask for no run", () => {
  const script = "Deno" in globalThis ? ["run", "-A", "scripts/sim.ts"] : ["scripts/sim.ts"]
  const { status, stdout, stderr } = spawnSync(process.execPath, [...script, "--seeds", "0"], {
    encoding: "utf8",
  })
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" })
  expect(stderr).toMatch(/^--seeds 0 is no whole number of 1 or more\nusage: npm run sim/)
})
