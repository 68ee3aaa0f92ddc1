/**
 * `leasehold` on a host that others use too: by real processes, and where it takes two users as root, by processes of
 * theirs.
 */
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
import { dirname, join } from "node:path"
import process from "node:process"
import { describe, expect, it, onTestFinished } from "vitest"
import { leasehold, says, Shell } from "./support/command.ts"
import { type Ended, type Runtime, type Spawned, spawnScript } from "./support/spawn.ts"

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

  // Tests command: A file that nobody named counts only where this user or root alone could put it there.
  it.runIf(isRoot)("takes no configuration of another user who put it above where root is", async () => {
    const [open, home, elsewhere] = [folder(0o1777), folder(), folder()]
    const deep = join(open, "deep")
    mkdirSync(deep)
    mkdirSync(join(elsewhere, "leases"))
    const planted = join(open, "leasehold.config.json")
    writeFileSync(planted, JSON.stringify({ store: `file:${elsewhere}` }))
    given(planted)
    const refused = await callIn(deep, { HOME: home }, "status", "k")
    expect(refused).toMatchObject({ code: 78, stdout: "" })
    expect(refused.stderr).toContain(
      `The configuration ${planted}, which nobody named, could be another user's (uid ${OTHER}`,
    )
    expect(await callIn(deep, { HOME: home }, "status", "--json", "--config", planted, "k")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(elsewhere),
      stderr: "",
    })
  })

  it.runIf(isRoot)("follows no link of another user's to a configuration of its own", async () => {
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

  it.runIf(isRoot)("writes nothing into the home directory of another, which sudo may leave it", async () => {
    const home = folder()
    given(home)
    const { code, stderr } = await callIn("/", { HOME: home }, "run", "k", "--", "true")
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining(`(${home}: uid ${OTHER} owns it)`) })
    // Deno keeps compiled code by itself.
    expect(readdirSync(home, { recursive: true }).filter((name) => String(name).includes("leasehold"))).toEqual([])
  })

  it.runIf(isRoot)("keeps no lease file where another could put a link in its place", async () => {
    const [home, temporary] = [folder(), folder()]
    given(temporary)
    const { code, stderr } = await callIn("/", { HOME: home, TMPDIR: temporary }, "run", "k", "--", "true")
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining(`uid ${OTHER} owns it`) })
    expect(readdirSync(temporary)).toEqual([])
    const open = folder(0o777) // what all may write is allowed, and hides no owner below it
    const below = join(open, "below")
    mkdirSync(below)
    given(below)
    expect(await callIn("/", { HOME: home, TMPDIR: below }, "run", "k", "--", "true")).toMatchObject({
      code: 78,
      stderr: expect.stringContaining(`(${below}: uid ${OTHER} owns it)`),
    })
  })

  it.runIf(isRoot)("is never told to take over what another made", async () => {
    const [home, open] = [folder(), folder(0o1777)]
    const planted = join(open, "leasehold.config.json")
    writeFileSync(planted, "{}")
    given(home, planted)
    for (const cwd of ["/", open]) {
      const { code, stderr } = await callIn(cwd, { HOME: home }, "run", "k", "--", "true")
      expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining(`uid ${OTHER} owns it`) })
      expect(stderr).not.toContain("chown")
    }
  })
})

describe("Deno without leave to tell who its user is", () => {
  // Tests command.
  it("takes no configuration for missing that it can't judge", async () => {
    const [project, home, store] = [folder(), folder(), folder()]
    mkdirSync(join(store, "leases"))
    writeFileSync(join(project, "leasehold.config.json"), JSON.stringify({ store: `file:${store}` }))
    const call = (cwd: string, sys: string): Promise<Ended> =>
      spawnScript({
        ...{ runtime: "deno", script: leasehold, args: ["status", "--json", "k"] },
        permissions: ["--allow-read", "--allow-write", "--allow-env", sys],
        env: { HOME: home, LEASEHOLD_STORE: "", LEASEHOLD_CONFIG: "" },
        under: ["env", "-C", cwd],
      }).ended
    const some = "--allow-sys=hostname,homedir"
    if (isRoot) given(project)
    expect(await call(project, some)).toMatchObject({
      code: 78,
      stdout: "",
      stderr: expect.stringContaining("--allow-sys"),
    })
    expect(readdirSync(home).filter((name) => name.startsWith(".local"))).toEqual([])
    chownSync(project, process.geteuid!(), process.getegid!())
    chmodSync(project, isRoot ? 0o770 : 0o700) // root's group is its own
    expect((await call(project, `${some},uid`)).code).toBe(isRoot ? 78 : 0)
    const stdout = expect.stringContaining(store)
    expect(await call(project, "--allow-sys")).toMatchObject({ code: 0, stdout, stderr: "" })
  })
})

/** Users with a group in common. */
const GROUP = 4710
const USERS = [4711, 4712] as const
const asUser = (user: number): readonly string[] => [
  ...["setpriv", `--reuid=${user}`, `--regid=${user}`, `--groups=${GROUP}`],
]
/** They must be able to read what is to be run. */
const canServe =
  isRoot && spawnSync("setpriv", [...asUser(USERS[0]).slice(1), process.execPath, leasehold, "--version"]).status === 0

describe.runIf(canServe).each<Runtime>(["node", "deno"])("two users of one directory (%s, as root)", (runtime) => {
  /** As docs/shared-host.md tells to make it. */
  function shared(): string {
    const directory = join(folder(0o755), "locks")
    mkdirSync(directory)
    chownSync(directory, 0, GROUP)
    chmodSync(directory, 0o2770)
    return directory
  }

  function start(user: number, umask: string, directory: string, ...args: readonly string[]): Spawned {
    const home = folder()
    chownSync(home, user, user)
    const spawned = spawnScript({
      ...{ runtime, script: leasehold, args },
      env: { LEASEHOLD_STORE: `file:${directory}`, HOME: home, NO_COLOR: "1" },
      under: [...asUser(user), "sh", "-c", `umask ${umask}; exec "$@"`, "sh"],
    })
    onTestFinished(() => void spawned.signal("SIGKILL"))
    return spawned
  }

  // Tests command: Users of a group share a directory in turns; one who can't write there runs nothing.
  it("have their turns at a key, alone", async () => {
    const directory = shared()
    const script = `mkdir ${directory}/busy || echo two; sleep 0.05; rmdir ${directory}/busy; id -u`
    const runs = [...USERS, ...USERS, ...USERS].map((user) => ({
      user,
      run: start(user, "002", directory, "run", "k", "--", "sh", "-c", script),
    }))
    for (const { user, run } of runs) expect(await run.ended).toMatchObject({ code: 0, stdout: `${user}\n` })
  })

  it("take over from each other what one that was killed left, and ask each other", async () => {
    const directory = shared()
    const [one, other] = USERS
    const killed = start(one, "002", directory, "run", "--ttl", "1h", "k", "--", "sh", "-c", "echo at work; sleep 1000")
    await says(killed, "at work")
    killed.signal("SIGKILL")
    const next = start(other, "002", directory, "run", "k", "--", "sh", "-c", "echo at work; sleep 1000")
    await says(next, "at work")
    const asks = start(one, "002", directory, "run", "--ask", "k", "--", "id", "-u")
    expect(await next.ended).toMatchObject({ signal: "SIGTERM" })
    expect(await asks.ended).toMatchObject({ code: 0, stdout: `${one}\n` })
  })

  it("are refused what one of them made with another umask, and run nothing", async () => {
    const directory = shared()
    const [one, other] = USERS
    expect(await start(one, "002", directory, "run", "a", "--", "true").ended).toMatchObject({ code: 0 })
    expect(await start(one, "022", directory, "run", "k", "--", "true").ended).toMatchObject({ code: 0 })
    const refused = await start(other, "002", directory, "run", "k", "--", "echo", "never").ended
    expect(refused).toMatchObject({ code: 71, stdout: "", stderr: expect.stringContaining("EACCES") })
    const doctor = await start(other, "002", directory, "doctor").ended
    expect(doctor).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${directory}/leases/k can't be used by group ${GROUP}`),
    })
  })
})

describe("a lease file", () => {
  // Tests command.
  it("is in a folder of its user's alone, first as a draft that is made anew, whatever lies there", async () => {
    const [shell, victim] = [new Shell(), join(folder(), "victim")]
    writeFileSync(victim, "as it was")
    const script = `ln -s ${victim} "$LEASEHOLD_LEASE_FILE.new"; echo $LEASEHOLD_LEASE_FILE at work; while grep -q '"held": true' "$LEASEHOLD_LEASE_FILE"; do :; done`
    const run = shell.start("run", "--ttl", "5min", "k", "--", "sh", "-c", script)
    const [path = ""] = (await says(run, "at work")).split(" ")
    expect(lstatSync(dirname(path)).mode & 0o777).toBe(0o700)
    const { generation } = JSON.parse((await shell.call("status", "--json", "k")).stdout) as { generation: string }
    await shell.call("unlock", "k", "--generation", generation)
    expect(await run.ended).toMatchObject({ code: 79 })
    expect(readFileSync(victim, "utf8")).toBe("as it was")
  })
})

describe("a sandbox without root", () => {
  // Tests command.
  it.runIf(mapsOther)("takes what is nobody's there for the system's (as root)", async () => {
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

  it.runIf(mapsOther)("takes nothing for the system's where all may put things (as root)", async () => {
    const [home, open] = [folder(), folder(0o1777)]
    const planted = join(open, "leasehold.config.json")
    writeFileSync(planted, "{}")
    given(home)
    chownSync(planted, OTHER + 1, OTHER + 1)
    const { code, stderr } = await spawnScript({
      ...{ runtime: "node", script: leasehold, args: ["status", "k"] },
      env: { HOME: home, LEASEHOLD_CONFIG: "" },
      under: [
        ...["setpriv", `--reuid=${OTHER}`, `--regid=${OTHER}`, "--clear-groups"],
        ...["unshare", "--user", "--map-user=1", "env", "-C", open],
      ],
    }).ended
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining(`The configuration ${planted}`) })
  })
})

describe("compiled code", () => {
  const unset = ["NODE_COMPILE_CACHE", "NODE_DISABLE_COMPILE_CACHE", "XDG_CACHE_HOME"].flatMap((name) => ["-u", name])
  const call = (env: Record<string, string>): Promise<Ended> =>
    spawnScript({ runtime: "node", script: leasehold, args: ["--version"], env, under: ["env", ...unset] }).ended

  // Tests command: Compiled code is kept where nobody but its user and root can write, or not at all.
  it("is kept where its user alone may write, never among the temporary files of all", async () => {
    const [home, temporary] = [folder(), folder(0o1777)]
    expect(await call({ HOME: home, TMPDIR: temporary })).toMatchObject({ code: 0, stderr: "" })
    expect(readdirSync(temporary)).toEqual([])
    const kept = join(home, ".cache", "leasehold", "compiled")
    expect(lstatSync(kept).mode & 0o777).toBe(0o700)
    expect(readdirSync(kept)).toHaveLength(1)
  })

  it("is not kept in a home directory that isn't there, nor makes one", async () => {
    const [above, temporary] = [folder(), folder(0o1777)]
    expect(await call({ HOME: join(above, "home"), TMPDIR: temporary })).toMatchObject({ code: 0, stderr: "" })
    expect([...readdirSync(above), ...readdirSync(temporary)]).toEqual([])
  })

  it("is not kept where others may write, or read", async () => {
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
