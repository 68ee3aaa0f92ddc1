import { describe, expect, it } from "vitest"
import { help, readOptions, UsageError } from "../../examples/sqlite-workers/options.ts"

const given = { store: undefined, endpoint: undefined, stay: false, keep: false, routing: false }

describe("the options of npm start", () => {
  it("name the runtime of each worker", () => {
    expect(readOptions(["--runtime", "node"])).toEqual({ ...given, runtimes: ["node", "node"] })
    expect(readOptions(["--runtime", "deno"])).toEqual({ ...given, runtimes: ["deno", "deno"] })
    expect(readOptions(["--runtime", "mixed"])).toEqual({ ...given, runtimes: ["node", "deno"] })
    const own = "Deno" in globalThis ? "deno" : "node"
    expect(readOptions([])).toEqual({ ...given, runtimes: [own, own] })
  })

  it("name the other job", () => {
    expect(readOptions(["--routing"])).toMatchObject({ routing: true })
  })

  it("name the store, and the emulator of one on GCS", () => {
    expect(readOptions(["--store", "some/where", "--keep"])).toMatchObject({ store: "some/where", keep: true })
    expect(readOptions(["--store=gs://b/p", "--endpoint", "http://127.0.0.1:1", "--stay"])).toMatchObject({
      store: "gs://b/p",
      endpoint: "http://127.0.0.1:1",
      stay: true,
    })
  })

  it.each([
    [["--fast"], "--fast"],
    [["run"], "run"],
    [["--runtime"], "--runtime"],
    [["--runtime", "bun"], "give node, deno or mixed"],
    [["--stay=yes"], "--stay"],
    [["--routing", "--stay"], "--routing has no other option"],
    [["--store", ""], "--store is empty"],
    [["--store", "s3://b"], "only gs:// is known"],
    [["--endpoint", "http://127.0.0.1:1"], "for --store gs://… only"],
    [["--store", "dir", "--endpoint", "http://127.0.0.1:1"], "for --store gs://… only"],
  ])("that make no sense are refused: %j", (args, reason) => {
    expect(() => readOptions(args)).toThrow(UsageError)
    expect(() => readOptions(args)).toThrow(reason)
  })

  it("are all in the help", () => {
    expect(readOptions(["--help", "--stay"])).toBe("help")
    for (const flag of ["runtime", "store", "endpoint", "stay", "keep", "help"]) expect(help).toContain(`--${flag}`)
  })
})
