// Pins what `leasehold chart` draws, which module it runs, and how it says that there is nothing to draw.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { sandboxChart } from "../../../../src/actors/chart/chart.ts"
import { machineOf } from "../../../../src/cli/commands/chart/module.ts"
import { EXIT } from "../../../../src/cli/errors/exit-codes.ts"
import { UsageError } from "../../../../src/cli/errors/usage-error.ts"
import { toAscii, toMermaid, toSvg } from "../../../../src/draw/mod.ts"
import { VirtualTime } from "../../../../src/runtime/time/virtual-time.ts"
import checkout from "../../../draw/machines/checkout.ts"
import { type Answer, CommandLine } from "../../command-line.ts"

const machinePath = fileURLToPath(new URL("../../../draw/machines/checkout.ts", import.meta.url))
/** By its place: a module elsewhere has no packages. */
const xstate = new URL("../../../../node_modules/xstate/dist/xstate.esm.js", import.meta.url).href

/** A user whose folder has this module. */
function userWith(text: string): CommandLine {
  const user = new CommandLine()
  writeFileSync(join(user.cwd, "machine.mjs"), `import { createMachine } from ${JSON.stringify(xstate)}\n${text}`)
  return user
}

const refused = async (answer: Promise<Answer>): Promise<string> => {
  const { code, out, err } = await answer
  expect({ code, out }).toEqual({ code: EXIT.usage, out: "" })
  return err
}

describe("leasehold chart", () => {
  it("draws leasehold's own chart in all forms", async () => {
    const user = new CommandLine()
    expect((await user.run("chart")).out).toBe(toAscii(sandboxChart))
    expect((await user.run("chart", "--ascii")).out).toBe(toAscii(sandboxChart))
    expect((await user.run("chart", "--mermaid")).out).toBe(toMermaid(sandboxChart))
    expect((await user.run("chart", "--svg")).out).toBe(await toSvg(sandboxChart))
  })

  it("draws a machine of a TypeScript module, into a file whose name says the form", async () => {
    const user = new CommandLine()
    for (const [file, drawing] of [
      ["a.svg", await toSvg(checkout)],
      ["a.mmd", toMermaid(checkout)],
      ["a.txt", toAscii(checkout)],
    ] as const) {
      expect(await user.run("chart", machinePath, "-o", file)).toEqual({ code: 0, out: "", err: "" })
      expect(readFileSync(join(user.cwd, file), "utf8")).toBe(drawing)
    }
    await user.run("chart", machinePath, "--mermaid", "-o", "README.md")
    expect(readFileSync(join(user.cwd, "README.md"), "utf8")).toBe(toMermaid(checkout))
  })

  it("says as JSON what it drew", async () => {
    const { out } = await new CommandLine().run("chart", "--json", "--mermaid", machinePath)
    expect(JSON.parse(out)).toEqual({ form: "mermaid", drawing: toMermaid(checkout) })
  })

  it("takes the default export, the only machine, or the one that is named", async () => {
    const two = `export const b = createMachine({ id: "b" }); export default createMachine({ id: "a" })`
    expect((await userWith(two).run("chart", "machine.mjs")).out).toBe("a\n")
    expect((await userWith(two).run("chart", "machine.mjs#b")).out).toBe("b\n")
    const one = `export const other = 1; export const b = createMachine({ id: "b" })`
    expect((await userWith(one).run("chart", "machine.mjs")).out).toBe("b\n")
    const within = `export const definition = { name: "d", machine: createMachine({ id: "d" }) }`
    expect((await userWith(within).run("chart", "machine.mjs#definition")).out).toBe("d\n")
  })

  it("looks past what throws when it is looked at", async () => {
    const text = `const raise = () => { throw new Error("server only") }
      export const env = new Proxy({}, { get: raise, has: raise })
      export const lazy = { get machine() { return raise() } }
      export const b = createMachine({ id: "b" })`
    expect(await userWith(text).run("chart", "machine.mjs")).toEqual({ code: 0, out: "b\n", err: "" })
  })

  it("awaits a machine that a module promises", async () => {
    const text = `export const later = Promise.resolve(createMachine({ id: "b" })); export const never = Promise.reject(1)`
    expect(await userWith(text).run("chart", "machine.mjs")).toEqual({ code: 0, out: "b\n", err: "" })
  })

  it("waits a minute for a module, and no longer", async () => {
    const time = new VirtualTime()
    const { cwd } = userWith(`await new Promise(() => {})`)
    const loading = machineOf({ cwd, clock: time }, "machine.mjs").catch((error: unknown) => error)
    expect(await time.runUntil(loading)).toEqual(
      new UsageError('"machine.mjs" isn\'t loaded after 60 s', "Mend what it waits for, or give another module"),
    )
    expect(time.mono()).toBeGreaterThanOrEqual(60_000)
  })

  it("names what a module has where it isn't told which", async () => {
    const user = userWith(`export const [a, b] = [createMachine({ id: "a" }), createMachine({ id: "b" })]`)
    expect(await refused(user.run("chart", "machine.mjs"))).toMatch(/several machines.*#a: it has "a", "b"/)
    expect(await refused(user.run("chart", "machine.mjs#c"))).toContain('Use one of "a", "b"')
    expect(await refused(userWith("export const a = 1").run("chart", "machine.mjs"))).toContain("exports no machine")
  })

  // Tests drawings: `leasehold chart` runs the module at the given path, and no other.
  it("says what is wrong with a module, and with a call", async () => {
    const user = userWith(`throw new Error("out of order")`)
    expect(await refused(user.run("chart", "machine.mjs"))).toContain("can't be loaded: out of order")
    expect(await refused(user.run("chart", "nothing.mjs"))).toContain("There is no file")
    expect(await refused(user.run("chart", "xstate"))).toContain("There is no file")
    expect(await refused(user.run("chart", "-o", "chart.png"))).toContain(".svg, .mmd, .mermaid, .txt")
    expect(await refused(user.run("chart", "--svg", "--ascii"))).toContain("two forms")
    expect(await refused(user.run("chart", "--key", "k"))).toContain("--trace FILE")
    expect(await refused(user.run("chart", "machine.mjs", "--trace", "t"))).toContain("leasehold's own chart")
    expect((await user.run("chart", "-o", "no/folder.svg")).code).toBe(EXIT.unwritten)
  })

  it("says that a module is run", async () => {
    expect((await new CommandLine().run("chart", "--help")).out).toContain("The module is RUN")
  })

  it("is as wide as the terminal", async () => {
    const user = new CommandLine()
    user.isTTY = true
    user.columns = 50
    expect((await user.run("chart", "--no-color")).out).toBe(toAscii(sandboxChart, { width: 50 }))
  })
})

describe("leasehold chart --trace", () => {
  const states = [
    ["a/1", { acquiring: "trying" }],
    ["b/2", { acquiring: "trying" }],
    ["a/1", { owning: { lease: "healthy", work: "restoring" } }],
    ["a/1", { owning: { lease: "healthy", work: "running" } }],
    ["a/1", { handingOff: { lease: "healthy", work: "settling" } }],
    ["b/2", { waiting: "watching" }],
  ] as const
  const header = { kind: "trace", version: 1, source: "live", seed: null, commit: null }
  const lines = states.map(([key, value], at) => ({ kind: "state", at, worker: "w", key, value, token: null }))
  const user = (): CommandLine => {
    const made = new CommandLine()
    const text = [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("")
    writeFileSync(join(made.cwd, "run.ndjson"), text)
    return made
  }

  it("counts the transitions of all sandboxes, or of one key's", async () => {
    const all = await user().run("chart", "--trace", "run.ndjson")
    expect(all.out).toContain("always x2 [withoutBackOff] -> trying")
    expect(all.out).toContain("lock.waiting x1 -> #waiting")
    expect(all.out).toContain("leave <=1 / assign -> #handingOff.work.settling")
    expect(all.out).toContain("<=n: one of several was taken n times")
    expect(all.err).toContain("6 states of 2 sandboxes; 1 times one of several transitions was taken")
    const one = await user().run("chart", "--trace", "run.ndjson", "--key", "b/2", "--svg")
    expect(one.out).toMatch(/data-edge="acquiring.trying--lock.waiting\[0\]">\n.*\n.*lock.waiting<\/text>\n.*×1/)
    expect(one.err).toContain("2 states of 1 sandboxes")
  })

  it("says what it has where a key isn't in it, and what is no trace", async () => {
    expect(await refused(user().run("chart", "--trace", "run.ndjson", "--key", "c/3"))).toContain('It has "a/1", "b/2"')
    expect(await refused(user().run("chart", "--trace", "other.ndjson"))).toContain("can't be read")
    const other = user()
    writeFileSync(join(other.cwd, "run.ndjson"), `${JSON.stringify(header)}\n`)
    expect(await refused(other.run("chart", "--trace", "run.ndjson"))).toContain("no states")
    writeFileSync(join(other.cwd, "run.ndjson"), "no trace")
    expect((await other.run("chart", "--trace", "run.ndjson")).code).toBe(EXIT.corrupt)
    const state = { ...lines[0], value: { acquiring: "sleeping" } }
    writeFileSync(join(other.cwd, "run.ndjson"), [header, state].map((line) => `${JSON.stringify(line)}\n`).join(""))
    const unknown = await other.run("chart", "--trace", "run.ndjson")
    expect({ code: unknown.code, has: unknown.err.includes("acquiring.sleeping") }).toEqual({
      code: EXIT.usage,
      has: true,
    })
  })
})
