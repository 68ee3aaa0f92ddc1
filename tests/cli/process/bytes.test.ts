/** Bytes that are no UTF-8 in what a process was given, as `/proc` shows them, and where nothing does. */
import { Buffer } from "node:buffer"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { checkPlaces, checkVariables, checkWords, lostVariables } from "../../../src/cli/process/bytes.ts"
import { unfitness } from "../../../src/cli/run/unfit-command.ts"

/** A process that was given these words and variables: a character for each byte. */
function given({ words = [], variables = [] }: { words?: readonly string[]; variables?: readonly string[] }): string {
  const proc = mkdtempSync(join(tmpdir(), "leasehold-proc-"))
  onTestFinished(() => rmSync(proc, { recursive: true }))
  mkdirSync(join(proc, "self"))
  const put = (name: string, all: readonly string[]): void =>
    writeFileSync(join(proc, "self", name), Buffer.from(all.map((each) => `${each}\0`).join(""), "latin1"))
  put("cmdline", ["node", "leasehold.js", ...words])
  put("environ", variables)
  return proc
}

const nowhere = "/nonexistent"
/** As it is typed: the character itself, in UTF-8. */
const REAL = "\u00ef\u00bf\u00bd"

describe("a word of the command line", () => {
  // Tests command: Bytes that are no UTF-8 are passed on as they are, or refused, never altered.
  it("that lost bytes is refused by its place, also beside one that has the character itself", () => {
    const words = ["run", "k", "--", "rm", "a\uFFFD", "caf\uFFFD"]
    const proc = given({ words: ["run", "k", "--", "rm", `a${REAL}`, "caf\u00e9"] })
    expect(() => checkWords(words, proc)).toThrow('Argument 6, "caf\uFFFD", has bytes that are no UTF-8')
    expect(() => checkWords(words.slice(0, -1), given({ words: ["run", "k", "--", "rm", `a${REAL}`] }))).not.toThrow()
  })

  it("is refused for that character where nothing tells what it was, or the title of the process is another", () => {
    expect(() => checkWords(["ls", "a\uFFFD"], nowhere)).toThrow("Argument 2")
    expect(() => checkWords(["ls", "a\uFFFD", "b", "c"], given({}))).toThrow("Argument 2")
    expect(() => checkWords(["ls", "café"], nowhere)).not.toThrow()
  })
})

describe("a variable", () => {
  // Tests command.
  it("that lost bytes is told with all of them, whether the runtime has it with others or not at all", () => {
    const proc = given({ variables: ["A=1", "V=\u00e9", "N\u00e9=x", `R=${REAL}`, "no variable \u00e9", "=\u00e9"] })
    const env = { A: "1", V: "\uFFFD", R: "\uFFFD" }
    const pairs = [
      { name: "V", bytes: Buffer.from("V=\u00e9", "latin1") },
      { name: "N\uFFFD", bytes: Buffer.from("N\u00e9=x", "latin1") },
    ]
    expect(lostVariables(env, proc)).toEqual({ pairs, unknown: [] })
    expect(lostVariables({}, proc).pairs).toEqual(pairs)
    expect(() => checkVariables(env, proc)).not.toThrow()
  })

  it("that was set since the process began is as it was set", () => {
    const proc = given({ variables: ["V=\u00e9"] })
    expect(lostVariables({ V: "other \uFFFD" }, proc)).toEqual({ pairs: [], unknown: [] })
  })

  it("is refused for that character where nothing tells what it was", () => {
    const env = { A: "1", V: "\uFFFD", W: "\uFFFD" }
    expect(lostVariables(env, nowhere)).toEqual({ pairs: [], unknown: ["V", "W"] })
    expect(() => checkVariables(env, nowhere)).toThrow(
      'The variable "V" has bytes that are no UTF-8: this system doesn\'t tell which, to pass them on. Set it to text in UTF-8, or leave it out: env -u V leasehold',
    )
    expect(() => checkPlaces(env, nowhere)).not.toThrow()
  })

  it("is refused where it names a place of the command's own, by every command", () => {
    const said = 'The variable "HOME" has bytes that are no UTF-8: leasehold would look elsewhere'
    const proc = given({ variables: ["HOME=/home/\u00e9"] })
    expect(() => checkPlaces({ HOME: "/home/\uFFFD" }, proc)).toThrow(said)
    expect(() => checkPlaces({}, proc)).toThrow(said)
    expect(() => checkPlaces({ HOME: "/home/\uFFFD" }, nowhere)).toThrow(said)
    expect(() => checkPlaces({ HOME: "/home/\uFFFD" }, given({ variables: [`HOME=/home/${REAL}`] }))).not.toThrow()
  })

  it("makes no command unfit where it is PATH: a shell looks by the bytes", () => {
    expect(unfitness("no-such-command", "/nonexistent")).toBeDefined()
    expect(unfitness("no-such-command", "/nonexistent:/caf\uFFFD")).toBeUndefined()
  })
})
