/** The configuration file and the store's name: places, precedence, and what is refused. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { main } from "../../../src/cli/main.ts"
import { processIo } from "../../../src/cli/process/io.ts"
import { findConfig, places, PROJECT_FILE } from "../../../src/cli/stores/config.ts"
import { ownDirectory, storeName, storeOf } from "../../../src/cli/stores/stores.ts"
import { CommandLine } from "../command-line.ts"

const nowhere = { out: "", err: "" }

function put(file: string, content: unknown): string {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
  return file
}

describe("the configuration file", () => {
  it("is the one that is named, else the variable's, else the nearest of the project, else the user's", () => {
    const user = new CommandLine()
    const find = (named?: string): string | undefined => findConfig(user.io(nowhere), named).file
    expect(find()).toBeUndefined()
    const own = put(join(user.cwd, "home/.config/leasehold/config.json"), {})
    expect(find()).toBe(own)
    const project = put(join(user.cwd, PROJECT_FILE), {})
    expect(find()).toBe(project)
    put(join(user.cwd, "by-variable.json"), {})
    user.env = { LEASEHOLD_CONFIG: "by-variable.json" }
    expect(find()).toBe(join(user.cwd, "by-variable.json"))
    put(join(user.cwd, "by-flag.json"), {})
    expect(find("by-flag.json")).toBe(join(user.cwd, "by-flag.json"))
  })

  it("is looked for in the directories above, too", () => {
    const user = new CommandLine()
    const project = put(join(user.cwd, PROJECT_FILE), { store: "memory:" })
    const io = { ...user.io(nowhere), cwd: join(user.cwd, "deep/down") }
    expect(findConfig(io, undefined)).toEqual({ file: project, config: { store: "memory:" } })
  })

  // Tests command: A configuration is refused as it is read, by every command, for any setting that means nothing.
  it.each([
    ["that is missing", undefined, "is not there"],
    ["that is not JSON", "{", "is not JSON"],
    ["that is no object", "[]", "it is no object"],
    ["with a setting that means nothing", { stores: "memory:" }, '"stores", which means nothing'],
    ["with a misspelt lock setting", { locking: { timeOut: 3 } }, '"timeOut", which means nothing'],
    ["with a store that is no text", { store: 4 }, "its store is 4"],
    ["with scopes that are none", { scopes: null }, "its scopes is no object"],
    ["with locking that is no object", { locking: 3 }, "its locking is no object"],
    [
      "with a timeout that is no budget",
      { locking: { timeout: "abc" } },
      'its locking.timeout is "abc", which is no wait',
    ],
    [
      "with a scope that is no budget",
      { scopes: { cache: 5, deploy: "abc" } },
      'its scope "deploy" is "abc", which is',
    ],
    ["with a scope of no value", { scopes: { deploy: null } }, 'its scope "deploy" is null'],
  ])("is refused by name: one %s", async (_, content, said) => {
    const user = new CommandLine()
    if (content !== undefined) put(join(user.cwd, "c.json"), content)
    for (const command of ["ls", "doctor"]) {
      const { code, out, err } = await user.run(command, "--store", "memory:", "--config", "c.json")
      expect({ code, out }).toEqual({ code: 78, out: "" })
      expect(err).toContain(said)
      expect(err).toContain("c.json")
    }
  })
})

describe("a file that nobody named", () => {
  const refused = (what: string, at: string): object => ({
    ...{ code: 78, out: "" },
    err: expect.stringMatching(`^leasehold: ${what}, could be another user's.*${at}: everybody may write it`),
  })

  // Tests command: A file that nobody named counts only where this user or root alone could put it there.
  it("counts as a configuration only where nobody else can have put it there", async () => {
    const user = new CommandLine()
    const open = join(user.cwd, "open")
    for (const [file, at] of [
      [join(open, PROJECT_FILE), open],
      [join(user.cwd, "home/.config/leasehold/config.json"), join(user.cwd, "home")],
    ] as const) {
      const io = { ...user.io(nowhere), cwd: join(open, "deep") }
      put(file, { store: "memory:" })
      expect(findConfig(io, undefined).file).toBe(file)
      chmodSync(at, 0o777)
      expect(() => findConfig(io, undefined)).toThrow(
        `The configuration ${file}, which nobody named, could be another user's (${at}: everybody may write it). Name it by --config or LEASEHOLD_CONFIG`,
      )
      expect(findConfig(io, file).file).toBe(file)
      expect(findConfig({ ...io, env: { LEASEHOLD_CONFIG: file } }, undefined).file).toBe(file)
      rmSync(file)
      expect(findConfig(io, undefined).file).toBeUndefined()
    }
  })

  it("refuses every command, which says what to do", async () => {
    const user = new CommandLine()
    const file = put(join(user.cwd, PROJECT_FILE), { store: "memory:" })
    chmodSync(file, 0o666)
    for (const words of [
      ["status", "a"],
      ["ls"],
      ["doctor"],
      ["request", "a"],
      ["unlock", "a"],
      ["run", "a", "--", "true"],
    ]) {
      const { code, out, err } = await user.run(...words)
      expect({ code, out }).toEqual({ code: 78, out: "" })
      expect(err).toMatch(
        /could be another user's \(everybody may write it\)\. Name it by --config .*; or chmod o-w \/.*\.\n$/,
      )
    }
  })

  it("has no credentials for a bucket where it could be another's", async () => {
    const user = new CommandLine()
    const home = join(user.cwd, "home")
    put(join(home, ".config/gcloud/application_default_credentials.json"), {})
    chmodSync(home, 0o777)
    user.env = { HOME: home }
    expect(await user.run("doctor", "--store", "gs://bucket")).toEqual(
      refused("The credentials .*json, which nobody named", home),
    )
    chmodSync(home, 0o700)
    const { store } = await storeOf(user.io(nowhere), "gs://bucket", { file: undefined, config: {} })
    await store.close()
  })

  it("has no locks of a user's own: where others may write there none are kept, unless they are named", async () => {
    const user = new CommandLine()
    const home = join(user.cwd, "home")
    mkdirSync(home)
    chmodSync(home, 0o777)
    const directory = join(home, ".local/state/leasehold")
    expect(await user.run("status", "a")).toEqual(
      refused(`The directory ${directory}, where this user's locks would be`, home),
    )
    expect(readdirSync(home)).toEqual([])
    expect(await user.run("run", "--store", `file:${directory}`, "a", "--", "true")).toMatchObject({ code: 0 })
    rmSync(join(home, ".local"), { recursive: true })
    chmodSync(home, 0o755)
    expect(await user.run("status", "a")).toMatchObject({ code: 0 })
    expect(lstatSync(directory).mode & 0o777).toBe(0o700)
  })
})

describe("a user without a home", () => {
  const { home } = processIo(() => {
    throw new Error("uv_os_homedir returned ENOENT")
  })

  // Tests command: A user without a home directory can use a named store; the error asks for one.
  it("uses the store that is named, and is told to name one", async () => {
    const user = new CommandLine()
    const said = { out: "", err: "" }
    expect(await main(["run", "--store", user.store, "a", "--", "true"], { ...user.io(said), home })).toBe(0)
    expect(await main(["status", "a"], { ...user.io(said), home })).toBe(78)
    expect(said.err).toMatch(/no home directory.*LEASEHOLD_STORE/)
  })
})

describe("the store", () => {
  it("is the flag's, else the variable's, else the configuration's, else a directory of the user's own", () => {
    const user = new CommandLine()
    const name = (flag: string | undefined, config: object, env = {}): object =>
      storeName({ ...user.io(nowhere), env }, flag, { file: "/etc/app/c.json", config })
    const configured = { store: "file:locks" }
    expect(name("gs://b/p/q", configured, { LEASEHOLD_STORE: "memory:" })).toEqual({
      kind: "gs",
      bucket: "b",
      prefix: "p/q",
    })
    expect(name(undefined, configured, { LEASEHOLD_STORE: "memory:" })).toEqual({ kind: "memory" })
    expect(name(undefined, configured)).toEqual({ kind: "file", directory: "/etc/app/locks" })
    const own = join(user.cwd, "home/.local/state/leasehold")
    expect(name(undefined, {})).toEqual({ kind: "file", directory: own, isDefault: true })
  })

  it("of a user without one is where the system keeps such things", () => {
    const io = new CommandLine().io(nowhere)
    expect(ownDirectory({ ...io, env: { XDG_STATE_HOME: "/state" } })).toBe("/state/leasehold")
    expect(ownDirectory({ ...io, home: "/Users/u", platform: "darwin" })).toBe(
      "/Users/u/Library/Application Support/leasehold",
    )
  })

  // Tests command: A store's path names one directory wherever it is called; `~` is the home directory.
  it.each([
    ["~/locks", "home/locks"],
    ["~", "home"],
    ["///nowhere/~", "/nowhere/~"],
    ["//~/locks", "home/locks"],
    ["./~/locks", "~/locks"],
    ["a/~/b", "a/~/b"],
  ])("at file:%s is in the home directory where a path begins there, whoever names it", (path, directory) => {
    const user = new CommandLine()
    const store = `file:${path}`
    const named = (flag: string | undefined, variable: string | undefined, config: object): object =>
      storeName({ ...user.io(nowhere), env: { LEASEHOLD_STORE: variable } }, flag, {
        file: join(user.cwd, "c.json"),
        config,
      })
    const expected = { kind: "file", directory: resolve(user.cwd, directory) }
    expect([named(store, undefined, {}), named(undefined, store, {}), named(undefined, undefined, { store })]).toEqual(
      Array(3).fill(expected),
    )
  })

  it("is refused where it is in the home of another user, or of one who has none", () => {
    const io = new CommandLine().io(nowhere)
    const none = { file: undefined, config: {} }
    expect(() => storeName(io, "file:~bob/locks", none)).toThrow(
      /^--store is "file:~bob\/locks".*\. Write the whole path, .* file:\.\/~bob\/locks for /,
    )
    expect(() => storeName({ ...io, home: undefined }, "file:~/locks", none)).toThrow("has no home directory")
  })

  it("and the configuration of a user are in no relative place, which would be another one everywhere", () => {
    const user = new CommandLine()
    const io = { ...user.io(nowhere), env: { XDG_STATE_HOME: "~/state", XDG_CONFIG_HOME: "~/config" } }
    expect(ownDirectory(io)).toBe(join(user.cwd, "home/.local/state/leasehold"))
    expect(places(io).at(-1)).toBe(join(user.cwd, "home/.config/leasehold/config.json"))
  })

  it.each([
    ["gs://b", { bucket: "b", prefix: "" }],
    ["gs://b/", { bucket: "b", prefix: "" }],
    ["gs://b/p/q/", { bucket: "b", prefix: "p/q" }],
    ["gs://b?userProject=p-1", { bucket: "b", prefix: "", userProject: "p-1" }],
    ["gs://b/p/?userProject=example.com%3Ap", { bucket: "b", prefix: "p", userProject: "example.com:p" }],
  ])("%s is a bucket, its prefix, and who pays", (text, parts) => {
    const io = new CommandLine().io(nowhere)
    expect(storeName(io, text, { file: undefined, config: {} })).toEqual({ kind: "gs", ...parts })
  })

  it.each(["?", "?userProject=", "?userproject=p", "?userProject=p&userProject=q", "?userProject=p&endpoint=http://x"])(
    "is refused where a bucket has %s after it",
    async (query) => {
      const { code, err } = await new CommandLine().run("ls", "--store", `gs://bucket/p${query}`)
      expect(code).toBe(64)
      expect(err).toContain("is not userProject=PROJECT")
    },
  )

  it.each(["", "file:", "gs://", "/var/lock", "s3://b"])("is refused where it is %j", async (store) => {
    const { code, err } = await new CommandLine().run("ls", "--store", store)
    expect(code).toBe(64)
    expect(err).toContain("which names no store")
  })
})
