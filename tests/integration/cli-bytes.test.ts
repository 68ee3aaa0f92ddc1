/** `leasehold` in surroundings that are no UTF-8, as shells of another locale make them: by real processes. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { describe, expect, it, onTestFinished } from "vitest"
import { leasehold, says, Shell } from "./support/command.ts"
import { type Ended, type Runtime, type Spawned, spawnScript } from "./support/spawn.ts"

/** A program with variables of its own, each a text with a character for each byte. */
const EXEC = `import json, os, sys
own = dict(pair.encode("latin1").split(b"=", 1) for pair in json.loads(sys.argv[1]))
os.execvpe(sys.argv[2], sys.argv[2:], {**os.environb, **own})`

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "leasehold-bytes-"))
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

describe.each<Runtime>(["node", "deno"])("bytes that are no UTF-8 (%s)", (runtime) => {
  /** Calls it by a line of sh, where it is `"$@"`. */
  function start(line: string, args: readonly string[], env: Record<string, string> = {}): Spawned {
    const spawned = spawnScript({
      ...{ runtime, script: leasehold, args },
      env: { LEASEHOLD_STORE: `file:${folder()}`, NO_COLOR: "1", ...env },
      under: ["/bin/sh", "-c", line, "sh"],
    })
    onTestFinished(() => void spawned.signal("SIGKILL"))
    return spawned
  }
  function call(line: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
    const spawned = start(line, args, env)
    spawned.child.stdin?.end()
    return spawned.ended
  }

  // Tests command: Bytes that are no UTF-8 are passed on as they are, or refused, never altered.
  it("in a word are refused: it would be another file's name, or another key", async () => {
    const added = `exec "$@" "$(printf 'caf\\351')"`
    for (const args of [["run", "k", "--", "rm"], ["status"], ["ls", "--config"], ["doctor", "--store"]]) {
      const { code, stdout, stderr } = await call(added, args)
      expect({ code, stdout }).toEqual({ code: 64, stdout: "" })
      expect(stderr).toMatch(`leasehold: Argument ${args.length + 1}, "caf\uFFFD", has bytes that are no UTF-8`)
    }
    const real = await call(`exec "$@" "$(printf 'caf\\357\\277\\275')"`, ["run", "k", "--", "echo"])
    expect(real).toMatchObject({ code: 0, stdout: "caf\uFFFD\n", stderr: "" })
  })

  it("in the environment reach the command as they are, whatever the name", async () => {
    const out = join(folder(), "out")
    const every = Array.from({ length: 255 }, (_, byte) => String.fromCharCode(byte + 1)).join("")
    const path = `PATH=${process.env["PATH"]}:/caf\u00e9`
    // With line ends last, and under names that a shell sets or couldn't name.
    const odd = ["V=\u00e9\n\n\n", `EVERY=${every}`, "a.b=\u00e9", "N\u00e9=1", "PS1=\u00e9", "PWD=/\u00e9", path]
    const { code, stderr } = await spawnScript({
      ...{ runtime, script: leasehold, args: ["run", "k", "--", "env", "-0"] },
      env: { LEASEHOLD_STORE: `file:${folder()}`, NO_COLOR: "1" },
      under: ["sh", "-c", `exec "$@" >${out}`, "sh", "python3", "-c", EXEC, JSON.stringify(odd)],
    }).ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const got = readFileSync(out, "latin1").split("\0")
    expect(got.filter((pair) => odd.includes(pair)).toSorted()).toEqual(odd.toSorted())
    expect(got.filter((pair) => pair.startsWith("leasehold"))).toEqual([])
  })

  it("in what the gate sets itself are no more: it is of this run", async () => {
    const lines = `for name in TOKEN DEADLINE; do export "LEASEHOLD_$name=$(printf '\\351')"; done; exec "$@"`
    const told = ["run", "k", "--", "sh", "-c", 'echo "$LEASEHOLD_TOKEN $LEASEHOLD_DEADLINE"']
    expect(await call(lines, told)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+ \d+\n$/), stderr: "" })
  })

  it("reach what is run for a request, too", async () => {
    const out = join(folder(), "out")
    const shell = new Shell(runtime)
    const hook = `--on-request=exec:printf %s "$V" >${out}; kill -KILL "-$LEASEHOLD_GROUP"`
    const run = start(
      `V=$(printf 'caf\\351'); export V; exec "$@"`,
      ["run", hook, "k", "--", "sh", "-c", "echo at work; sleep 1000"],
      {
        LEASEHOLD_STORE: `file:${shell.directory}`,
      },
    )
    await says(run, "at work")
    expect(await shell.call("request", "k")).toMatchObject({ code: 0 })
    expect(await run.ended).toMatchObject({ signal: "SIGKILL" })
    expect(readFileSync(out, "latin1")).toBe("caf\u00e9")
  })

  it("in a place of the command's own are refused, as is a directory that can't be named", async () => {
    const home = await call(`HOME=$(printf '/caf\\351'); export HOME; exec "$@"`, ["status", "k"])
    expect(home).toMatchObject({ code: 78, stderr: expect.stringContaining('The variable "HOME" has bytes') })
    const place = folder()
    mkdirSync(join(place, "here"))
    const inside = `cd "$PLACE" && mv here "$(printf 'caf\\351')" && cd "$(printf 'caf\\351')" && exec "$@"`
    const here = await call(inside, ["status", "k"], { PLACE: place })
    expect(here).toMatchObject({ code: 78, stderr: expect.stringContaining("The working directory can't be named") })
    const back = `cd "$PLACE/$(printf 'caf\\351')" && exec "$@"`
    expect(await call(back, ["--version"], { PLACE: place })).toMatchObject({ code: 0, stderr: "" })
  })
})
