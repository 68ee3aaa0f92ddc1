/** What an operator sees of keys, and does to them: status, ls, request, unlock. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { describe, expect, it, onTestFinished } from "vitest"
import { encodeName } from "../../src/locks/api/keys.ts"
import { StoreLock } from "../../src/locks/lock/store-lock.ts"
import { fileStore } from "../../src/locks/stores/file/file-store.ts"
import { FileLock } from "../../src/locks/stores/file/mod.ts"
import { CommandLine } from "./command-line.ts"

const lockOf = (user: CommandLine, key: string): FileLock => new FileLock(key, { directory: join(user.cwd, "store") })

describe("status", () => {
  it("tells who owns a key, with the generation, and that it is free", async () => {
    const user = new CommandLine()
    await (await lockOf(user, "other").acquire()).release()
    expect((await user.json("status", "a")).value).toMatchObject({
      key: "a",
      state: "absent",
      owner: null,
      generation: "0",
    })
    const lease = await lockOf(user, "a").acquire()
    const { value } = await user.json("status", "a")
    expect(value).toMatchObject({ state: "owned", owner: { token: lease.token, pid: process.pid }, groups: [] })
    expect((await user.run("status", "--store", user.store, "a")).out).toContain(`(pid ${process.pid} on `)
    await lease.release()
    expect((await user.json("status", "a")).value).toMatchObject({ state: "released", ended: { token: lease.token } })
  })

  it("says who may take a key whose lease is over, and that what works there still keeps it", async () => {
    const user = new CommandLine()
    await lockOf(user, "a").acquire()
    const shown = async (): Promise<string> => (await user.run("status", "--store", user.store, "a")).out
    const over = (groups: readonly number[]): void =>
      rewrite(user, "a", (record) => {
        const owner = record["owner"] as { host: object }
        return { ...record, expiresAt: 1, owner: { ...owner, expiresAt: 1, host: { ...owner.host, groups } } }
      })
    over([])
    expect(await shown()).toMatch(/^a {2}owned by one whose lease is over; the next who wants it takes it\n/)
    over([4242])
    expect(await shown()).toMatch(/takes it, on its machine once what works there has ended\n[^]*process group 4242\n/)
  })

  // Tests command: `status`, `ls` and a showing `unlock` write nothing and make only a user's own directory.
  it.each([["status", "a"], ["ls"], ["unlock", "a"]])(
    "makes nothing where it was pointed at by mistake, and says so: %s",
    async (...words) => {
      const user = new CommandLine()
      const told = expect.stringContaining(`No locks have been kept in the directory ${join(user.cwd, "store")}`)
      expect(await user.run(...words, "--store", user.store)).toMatchObject({ code: 71, out: "", err: told })
      expect(readdirSync(user.cwd)).toEqual([])
      mkdirSync(join(user.cwd, "store"))
      expect(await user.run(...words, "--store", user.store)).toMatchObject({ code: 71, out: "", err: told })
      expect(readdirSync(join(user.cwd, "store"))).toEqual([])
    },
  )

  it("writes nothing, nor do ls and an unlock that only shows: a store may be mounted to be read", async () => {
    const user = new CommandLine()
    await using lease = await lockOf(user, "a").acquire()
    const all = (): string[] => readdirSync(join(user.cwd, "store"), { recursive: true, encoding: "utf8" }).toSorted()
    const before = all()
    expect((await user.json("status", "a")).value).toMatchObject({ state: "owned", owner: { token: lease.token } })
    expect((await user.json("ls")).value).toMatchObject({ keys: [{ key: "a", state: "owned" }] })
    expect(await user.run("unlock", "--store", user.store, "a")).toMatchObject({ code: 1 })
    expect(all()).toEqual(before)
  })

  it("tells what stands where no process has used the store since this boot", async () => {
    const user = new CommandLine()
    const { token } = await lockOf(user, "a").acquire()
    rmSync(join(user.cwd, "store/clock"), { recursive: true })
    expect((await user.json("status", "a")).value).toMatchObject({ owner: { token } })
  })

  it("makes a user's own store, which nobody named", async () => {
    const user = new CommandLine()
    mkdirSync(join(user.cwd, "home"))
    expect(await user.run("ls")).toMatchObject({ code: 0, out: "No keys.\n" })
    expect(await user.run("status", "a")).toMatchObject({ code: 0 })
  })

  it("says in its help, as ls does, that it only reads", async () => {
    const user = new CommandLine()
    for (const name of ["status", "ls"]) expect((await user.run(name, "--help")).out).toMatch(/only\s+read/)
  })

  it("refuses what is no record, and never calls it free", async () => {
    const user = new CommandLine()
    await (await lockOf(user, "a").acquire()).release()
    writeFileSync(join(user.cwd, "store/leases/a/0000000000000009"), "?")
    expect(await user.run("status", "--store", user.store, "a")).toMatchObject({ code: 65, out: "" })
    expect((await user.run("ls", "--store", user.store)).out).toContain("is not its lease record")
  })
})

describe("ls", () => {
  it("lists the keys of a prefix, those of long names by what their records say, and only owned ones where asked", async () => {
    const user = new CommandLine()
    const long = `team/${"x".repeat(300)}`
    await using _ = await lockOf(user, long).acquire()
    await (await lockOf(user, "team/b").acquire()).release()
    await (await lockOf(user, "other").acquire()).release()
    const keysOf = async (...words: string[]): Promise<string[]> =>
      ((await user.json("ls", ...words)).value as { keys: { key: string }[] }).keys.map(({ key }) => key)
    expect((await keysOf()).toSorted()).toEqual(["other", "team/b", long])
    expect((await keysOf("team/")).toSorted()).toEqual(["team/b", long])
    expect(await keysOf("--owned")).toEqual([long])
    expect((await user.run("ls", "--store", user.store)).out).toMatch(/^KEY +STATE +ENDS IN +OWNER\n/)
  })
})

describe("request", () => {
  it("asks the owner, and leaves the key free where it left", async () => {
    const user = new CommandLine()
    const lock = lockOf(user, "a")
    const lease = await lock.acquire()
    lock.onReleaseRequested(() => void lease.release())
    expect(await user.json("request", "a")).toMatchObject({ code: 0, value: { outcome: "handed over" } })
    expect((await user.json("status", "a")).value).toMatchObject({ state: "released" })
    expect((await user.json("request", "a")).value).toMatchObject({ outcome: "free" })
  })

  it("withdraws where the owner stays, and leaves no mark", async () => {
    const user = new CommandLine()
    const lock = lockOf(user, "a")
    await using _ = await lock.acquire()
    let heard = 0
    lock.onReleaseRequested(() => void heard++)
    expect(await user.json("request", "--for", "1.5", "a")).toMatchObject({ code: 0, value: { outcome: "asked" } })
    expect(heard).toBe(1)
    expect((await user.json("status", "a")).value).toMatchObject({ state: "owned", waiter: null })
  })
})

describe("a key that another asks for already", () => {
  /** One that owns it, and one that asks for it, whose mark stands until the test is over. */
  async function contended(user: CommandLine): Promise<void> {
    const owner = lockOf(user, "a")
    const lease = await owner.acquire()
    const [asking, asked] = [new AbortController(), Promise.withResolvers<void>()]
    owner.onReleaseRequested(() => asked.resolve())
    const store = fileStore({ directory: join(user.cwd, "store") })
    const waiter = new StoreLock("a", { store }).acquire({ whenOwned: "request", signal: asking.signal })
    onTestFinished(async () => {
      asking.abort()
      await expect(waiter).rejects.toThrow("cancelled")
      await lease.release()
      await store.close()
    })
    await asked.promise
  }

  // Tests command: A request for a key that another asks for already ends well: its owner was asked.
  it("was asked for: a request says so, and by whom, and ends well", async () => {
    const user = new CommandLine()
    await contended(user)
    const { code, out, err } = await user.run("request", "--store", user.store, "a")
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out).toMatch(/^".+" \(pid \d+ on .+\) was asked already, by ".+", which waits for "a"\.\n$/)
    expect(await user.json("request", "a")).toMatchObject({ code: 0, value: { outcome: "asked" } })
  })

  // Tests command: The command advises what its user can do, never an option of the library.
  it("is told to a run that won't queue, with what its flags can do about it", async () => {
    const user = new CommandLine()
    await contended(user)
    const words = ["run", "--store", user.store, "--ask", "--no-queue", "a", "--", "true"]
    const said = / waits already for "a", held by .*\. Try again later, or leave --no-queue out to wait for a turn\.$/
    const { code, err } = await user.run(...words)
    expect({ code, err: err.trimEnd() }).toEqual({ code: 76, err: expect.stringMatching(said) })
    const lines = (await user.run("run", "--json", ...words.slice(1))).err.trimEnd().split("\n")
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({
      message: expect.stringMatching(said),
      next: "Try again later, or leave --no-queue out to wait for a turn",
    })
  })
})

describe("unlock", () => {
  // Tests command: An unlock touches only the version looked at, and leaves a released record with the token.
  it("tells what it would break and how, and breaks nothing without the generation, or with an old one", async () => {
    const user = new CommandLine()
    const lease = await lockOf(user, "it's").acquire()
    const told = await user.run("unlock", "--store", user.store, "it's")
    expect(told.code).toBe(1)
    expect(told.out).toContain(`leasehold unlock --store ${user.store} 'it'\\''s' --generation 1\n`)
    expect(told.out).toContain(`pid ${process.pid}`)
    await lease.renew()
    expect(await user.json("unlock", "it's", "--generation", "1")).toMatchObject({
      code: 1,
      value: { unlocked: false },
    })
    expect(lease.isHeld()).toBe(true)
    await lease.release()
  })

  it("leaves a released record with the token, and the owner loses", async () => {
    const user = new CommandLine()
    const lease = await lockOf(user, "a").acquire()
    const lost = Promise.withResolvers<void>()
    lease.signal.addEventListener("abort", () => lost.resolve())
    const { value } = await user.json("status", "a")
    const { generation } = value as { generation: string }
    expect(await user.json("unlock", "a", "--generation", generation)).toMatchObject({
      code: 0,
      value: { unlocked: true },
    })
    expect((await user.json("status", "a")).value).toMatchObject({
      state: "released",
      ended: { token: lease.token, how: "release" },
    })
    expect(readFileSync(join(user.cwd, "store/a.lock"), "utf8")).toContain(String(lease.token))
    await lost.promise
    expect(lease.isHeld()).toBe(false)
    expect((await lockOf(user, "a").acquire()).token).toBeGreaterThan(lease.token)
    expect(await user.json("unlock", "b", "--generation", "1")).toMatchObject({ code: 0, value: { unlocked: false } })
  })

  it("names store and configuration in the line that does it, for a shell", async () => {
    const user = new CommandLine()
    const directory = join(user.cwd, "a store")
    await using _ = await new FileLock("a", { directory }).acquire()
    writeFileSync(join(user.cwd, "it's.json"), "{}")
    const { out } = await user.run("unlock", "--store", `file:${directory}`, "--config", "it's.json", "a")
    expect(out).toContain(`unlock --store 'file:${directory}' --config 'it'\\''s.json' a --generation 1\n`)
  })

  // Tests command: Every key can be reached, also with a leading `-`, and a printed command line reaches it.
  it("keeps what begins with - from being taken for an option in that line", async () => {
    const user = new CommandLine()
    await using _ = await lockOf(user, "-x").acquire()
    writeFileSync(join(user.cwd, "-c.json"), JSON.stringify({ store: user.store }))
    const { out } = await user.run("unlock", "--config=-c.json", "--", "-x")
    const [, line = ""] = /\n {2}leasehold (unlock .*)\n$/.exec(out) ?? []
    expect(line).toBe("unlock --config=-c.json --generation 1 -- -x")
    expect(await user.run(...line.split(" "))).toMatchObject({ code: 0, out: expect.stringContaining("Unlocked.") })
  })

  it("keeps the greatest token that the record tells of, also where a stranger moved the owner's pair", async () => {
    const user = new CommandLine()
    const lease = await lockOf(user, "a").acquire()
    rewrite(user, "a", (record) => ({ ...record, expiresAt: Number(record["expiresAt"]) + 1 }))
    const unlocked = async (generation: number): Promise<unknown> => {
      expect(await user.json("unlock", "a", "--generation", String(generation))).toMatchObject({ code: 0 })
      return (await user.json("status", "a")).value
    }
    expect(await unlocked(2)).toMatchObject({ ended: { token: lease.token, how: "release" } })
    rewrite(user, "a", (record) => ({ ...record, ownerId: "stranger", expiresAt: 4e9 }))
    expect(await unlocked(4)).toMatchObject({ ended: { token: lease.token } })
  })

  // Tests rule 15: Burned creates, strangers, older releases, `unlock` and what is no list prove no end.
  it("proves nobody to have ended: what was owned may be worked on", async () => {
    const user = new CommandLine()
    const former = await lockOf(user, "a").acquire()
    rewrite(user, "a", (record) => ({ ...record, past: [former.nonce] }))
    expect(await user.json("unlock", "a", "--generation", "2")).toMatchObject({ code: 0 })
    expect((await lockOf(user, "a").acquire()).past).toEqual([])
  })

  // Tests command.
  it("never rewrites a record of a newer release", async () => {
    const user = new CommandLine()
    await lockOf(user, "a").acquire()
    rewrite(user, "a", (record) => ({ ...record, needs: ["another mind"] }))
    const { code, err } = await user.run("unlock", "--store", user.store, "a", "--generation", "2")
    expect({ code, err }).toEqual({ code: 66, err: expect.stringContaining('needs "another mind"') })
    expect(await user.run("unlock", "--store", user.store, "a")).toMatchObject({ code: 66 })
    expect((await user.json("status", "a")).value).toMatchObject({ state: "owned", generation: "2" })
  })
})

describe("what others wrote into a store", () => {
  /** Clears a screen in three ways, turns text around, forges a line, and has a character of two units. */
  const evil = "\u001B[2J\u009B1m\u007F\u202E\u{E0001}\nowner  forged\r"

  /** The answers to all commands of an operator, as text or as JSON, where this is what others say. */
  async function answers(text: string, ...how: readonly string[]): Promise<readonly string[]> {
    const user = new CommandLine()
    await using _ = await lockOf(user, "k").acquire()
    rewrite(user, "k", (record) => {
      const ownerId = `x${text}`
      const waitingOwnerId = `w${text}`
      const owner = { ...(record["owner"] as { host: object }), for: ownerId, address: `a${text}` }
      const waiting = { waitingOwnerId, waiterExpiresAt: 4e9, ended: { token: 1, by: "o", how: text, note: null } }
      return {
        ...record,
        ...waiting,
        ownerId,
        owner: { ...owner, host: { ...owner.host, name: text, groups: [text] } },
      }
    })
    put(user, encodeName(`other${text}`), { ownerId: text, expiresAt: 1e300 })
    put(user, encodeName(`broken${text}`), { ownerId: null, needs: 1, key: text })
    put(user, encodeName("new"), { ownerId: null, expiresAt: 0, needs: [text] })
    const calls = [
      ["status", "k"],
      ["ls"],
      ["unlock", "k"],
      ["unlock", "k", "--generation", "1"],
      ["unlock", "new"],
      ["request", "k"],
      ["doctor"],
      ["run", "--lock-timeout", "0", "k", "--", "true"],
      ["run", "--lock-timeout", "0", "--ask", "--no-queue", "k", "--", "true"],
    ]
    const said: string[] = []
    for (const [command = "", ...words] of calls) {
      const { out, err } = await user.run(command, "--store", user.store, ...how, ...words)
      said.push(out + err)
    }
    return said
  }

  const linesOf = (said: readonly string[]): readonly number[] => said.map((text) => text.split("\n").length)

  // Tests waits: Texts that others wrote into a store can't steer a terminal or forge a line of it.
  it("can't steer the terminal that it is shown on, nor look like more than it is", async () => {
    const [said, harmless] = [await answers(evil), await answers("harmless")]
    expect(said.filter((text) => /[^\P{C}\n]/u.test(text))).toEqual([])
    expect(linesOf(said)).toEqual(linesOf(harmless))
    for (const text of said.slice(0, 4)) expect(text).toContain(" on ?[2J?1m????owner  forged?")
  })

  it("is told to the letter as JSON, by which no terminal is steered either", async () => {
    const said = await answers(evil, "--json")
    expect(said.filter((text) => /[^\P{C}\n]/u.test(text))).toEqual([])
    const { owner, waiter } = JSON.parse(said[0]!) as { owner: object; waiter: object }
    expect({ owner, waiter }).toMatchObject({ owner: { ownerId: `x${evil}`, address: `a${evil}` }, waiter: {} })
  })
})

/** An object under a name, as anybody who may write to the directory can make it. */
function put(user: CommandLine, name: string, record: object): void {
  const folder = join(user.cwd, "store/leases", name)
  mkdirSync(folder)
  writeFileSync(join(folder, "0000000000000001"), JSON.stringify(record))
}

/** Another writes the next version of a record. */
function rewrite(user: CommandLine, key: string, change: (record: Record<string, unknown>) => object): void {
  const folder = join(user.cwd, "store/leases", key)
  const [last = ""] = readdirSync(folder).toSorted().slice(-1)
  const record = JSON.parse(readFileSync(join(folder, last), "utf8")) as Record<string, unknown>
  writeFileSync(join(folder, String(Number(last) + 1).padStart(last.length, "0")), JSON.stringify(change(record)))
}
