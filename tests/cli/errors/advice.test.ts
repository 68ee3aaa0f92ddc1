/** What the command advises where the library speaks of options that only a program has. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { advice, happened, INSTEAD } from "../../../src/cli/errors/advice.ts"
import { InvalidConfigError } from "../../../src/locks/api/errors.ts"
import { cancelled } from "../../../src/locks/engine/refusals.ts"
import { CommandLine } from "../command-line.ts"

const folder = fileURLToPath(new URL("../../../src/locks/", import.meta.url))

/** All that the library can say, texts in several pieces put together. */
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => readFileSync(folder + file, "utf8").replaceAll(/"\s*\+\s*"/g, ""))
  .join("\n")

describe("what the command advises", () => {
  // Tests command: The command advises what its user can do, never an option of the library.
  it("is what the library does, but where that is about a program's options", () => {
    const error = new InvalidConfigError({ message: "It is so", next: "Do this" })
    expect([happened(error), advice(error)]).toEqual(["It is so", "Do this"])
    expect(advice(cancelled("k"))).toBe("Nothing is held; call it again when it is wanted")
  })

  it("stands for texts that the library has, each to the letter", () => {
    expect([...INSTEAD.keys()].filter((text) => !sources.includes(text))).toEqual([])
    for (const text of INSTEAD.values()) expect(sources).not.toContain(text)
  })

  it("tells who named a bucket how that is written", async () => {
    const { code, err } = await new CommandLine().run("doctor", "--store", "gs://My_Bucket")
    expect({ code, err }).toEqual({
      code: 64,
      err: expect.stringContaining(". Write gs://BUCKET or gs://BUCKET/PREFIX"),
    })
  })
})
