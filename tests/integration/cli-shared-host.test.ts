/** `leasehold` on a host that others use too: by real processes, and where it takes two users as root, by processes of theirs. */
import { spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { describe, expect, it, onTestFinished } from "vitest"
import { leasehold, says, Shell } from "./support/command.ts"
import { type Ended, type Runtime, spawnScript } from "./support/spawn.ts"

const LONG = 60_000

/** A directory of this user alone, or with other rights. */
function folder(mode = 0o700): string {
  const made = mkdtempSync(join(tmpdir(), "leasehold-host-"))
  chmodSync(made, mode)
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

/** Another user of the host. */
const OTHER = 4711
const isRoot = process.geteuid!() === 0
const mapsOther = isRoot && spawnSync("unshare", ["--user", "--map-root-user", "true"], { uid: OTHER }).status === 0

/** Gives paths to the other user. */
function given(...paths: readonly string[]): void {
  for (const path of paths) chownSync(path, OTHER, OTHER)
}

describe.each<Runtime>(["node", "deno"])("root (%s)", (runtime) => {
  const unnamed = { LEASEHOLD_STORE: "", LEASEHOLD_CONFIG: "", XDG_CONFIG_HOME: "", XDG_STATE_HOME: "" }
  /** Calls it in a directory, with the rights of root. */
  const callIn = (cwd: string, env: Record<string, string>, ...args: string[]): Promise<Ended> =>
    spawnScript({ runtime, script: leasehold, args, env: { ...unnamed, ...env }, under: ["env", "-C", cwd] }).ended

  it.runIf(isRoot)(
    "takes no configuration of another user who put it above where root is",
    { timeout: LONG },
    async () => {
      const [open, home, elsewhere] = [folder(0o1777), folder(), folder()]
      const deep = join(open, "deep")
      mkdirSync(deep)
      const planted = join(open, "leasehold.config.json")
      writeFileSync(planted, JSON.stringify({ store: `file:${elsewhere}` }))
      given(planted)
      const refused = await callIn(deep, { HOME: home }, "status", "k")
      expect(refused).toMatchObject({ code: 78, stdout: "" })
      expect(refused.stderr).toContain(
        `The configuration ${planted}, which nobody named, could be another user's (uid ${OTHER}`,
      )
      expect(await callIn(deep, { HOME: home }, "status", "--config", planted, "k")).toMatchObject({
        code: 0,
        stderr: "",
      })
      expect(readdirSync(elsewhere)).toContain("leases")
    },
  )

  it.runIf(isRoot)("follows no link of another user's to a configuration of its own", { timeout: LONG }, async () => {
    const [open, home] = [folder(0o1777), folder()]
    const own = join(home, "other.json")
    writeFileSync(own, "{}")
    const link = join(open, "leasehold.config.json")
    symlinkSync(own, link)
    expect(await callIn(open, { HOME: home }, "status", "k")).toMatchObject({ code: 0 })
    spawnSync("chown", ["-h", String(OTHER), link])
    expect(await callIn(open, { HOME: home }, "status", "k")).toMatchObject({
      code: 78,
      stderr: expect.stringContaining(`(uid ${OTHER} owns it)`),
    })
  })

  it.runIf(isRoot)(
    "writes nothing into the home directory of another, which sudo may leave it",
    { timeout: LONG },
    async () => {
      const home = folder()
      given(home)
      const { code, stderr } = await callIn("/", { HOME: home }, "run", "k", "--", "true")
      expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining(`(${home}: uid ${OTHER} owns it)`) })
      // Deno keeps compiled code by itself.
      expect(readdirSync(home, { recursive: true }).filter((name) => String(name).includes("leasehold"))).toEqual([])
    },
  )

  it.runIf(isRoot)("keeps no lease file where another could put a link in its place", { timeout: LONG }, async () => {
    const [home, temporary] = [folder(), folder()]
    given(temporary)
    const { code, stderr } = await callIn("/", { HOME: home, TMPDIR: temporary }, "run", "k", "--", "true")
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining(`uid ${OTHER} owns it`) })
    expect(readdirSync(temporary)).toEqual([])
  })
})

describe("a lease file", () => {
  it("is a draft first, which is made anew, whatever lies there", { timeout: LONG }, async () => {
    const [shell, victim] = [new Shell(), join(folder(), "victim")]
    writeFileSync(victim, "as it was")
    const script = `ln -s ${victim} "$LEASEHOLD_LEASE_FILE.new"; echo at work; while grep -q '"held": true' "$LEASEHOLD_LEASE_FILE"; do :; done`
    const run = shell.start("run", "--ttl", "5min", "k", "--", "sh", "-c", script)
    await says(run, "at work")
    const { generation } = JSON.parse((await shell.call("status", "--json", "k")).stdout) as { generation: string }
    await shell.call("unlock", "k", "--generation", generation)
    expect(await run.ended).toMatchObject({ code: 79 })
    expect(readFileSync(victim, "utf8")).toBe("as it was")
  })
})

describe("a sandbox without root", () => {
  it.runIf(mapsOther)("takes what is nobody's there for the system's (as root)", { timeout: LONG }, async () => {
    const [home, store] = [folder(), folder()]
    given(home, store)
    const within = ["unshare", "--user", "--map-user=1", "env", "-C", "/"]
    const { code, stdout, stderr } = await spawnScript({
      runtime: "node",
      script: leasehold,
      args: ["run", "--store", `file:${store}`, "k", "--", "id", "-u"],
      env: { HOME: home },
      under: ["setpriv", `--reuid=${OTHER}`, `--regid=${OTHER}`, "--clear-groups", ...within],
    }).ended
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "1\n", stderr: "" })
    expect(readdirSync(join(home, ".cache", "leasehold"))).toEqual(["compiled"])
  })
})

describe("compiled code", () => {
  const unset = ["NODE_COMPILE_CACHE", "NODE_DISABLE_COMPILE_CACHE", "XDG_CACHE_HOME"].flatMap((name) => ["-u", name])
  const call = (env: Record<string, string>): Promise<Ended> =>
    spawnScript({ runtime: "node", script: leasehold, args: ["--version"], env, under: ["env", ...unset] }).ended

  it("is kept where its user alone may write, never among the temporary files of all", { timeout: LONG }, async () => {
    const [home, temporary] = [folder(), folder(0o1777)]
    expect(await call({ HOME: home, TMPDIR: temporary })).toMatchObject({ code: 0, stderr: "" })
    expect(readdirSync(temporary)).toEqual([])
    const kept = join(home, ".cache", "leasehold", "compiled")
    expect(lstatSync(kept).mode & 0o777).toBe(0o700)
    expect(readdirSync(kept)).toHaveLength(1)
  })

  it("is not kept where others may write, or read", { timeout: LONG }, async () => {
    const [open, temporary] = [folder(0o777), folder(0o1777)]
    expect(await call({ HOME: open, TMPDIR: temporary })).toMatchObject({ code: 0, stderr: "" })
    expect([...readdirSync(open), ...readdirSync(temporary)]).toEqual([])
    const [home] = [folder()]
    const read = join(home, ".cache", "leasehold", "compiled")
    mkdirSync(read, { recursive: true, mode: 0o755 })
    expect(await call({ HOME: home, TMPDIR: temporary })).toMatchObject({ code: 0, stderr: "" })
    expect([...readdirSync(read), ...readdirSync(temporary)]).toEqual([])
  })
})
