/** `leasehold run` by real processes: what the command gets, what it passes on, and that no two are ever at work. */
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { isAbsolute, join, relative } from "node:path"
import process from "node:process"
import { describe, expect, it, onTestFinished } from "vitest"
import { processes } from "../../src/runtime/machine/processes.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import { isWaitedFor, leasehold, says, Shell, waiterOf } from "./support/command.ts"
import { type Ended, type Runtime, spawnScript } from "./support/spawn.ts"

/** The processes that this one has started, as /proc tells of them. */
function childrenOf(parent: number): readonly Beside[] {
  const pids = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim().split(" ").map(Number)
  return pids.map((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return {
      pid,
      startedAt: stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]!,
      name: readFileSync(`/proc/${pid}/comm`, "utf8").trim(),
      folder: readlinkSync(`/proc/${pid}/cwd`),
      open: readdirSync(`/proc/${pid}/fd`).map((descriptor) => readlinkSync(`/proc/${pid}/fd/${descriptor}`)),
    }
  })
}

interface Beside {
  readonly pid: number
  readonly startedAt: string
  readonly name: string
  readonly folder: string
  readonly open: readonly string[]
}

describe.each<Runtime>(["node", "deno"])("a command that is run (%s)", (runtime) => {
  // Tests command: The command passes input, output, exit codes and signals on.
  it("is told of its lease, and its exit code is passed on", async () => {
    const shell = new Shell(runtime)
    const script =
      'printenv LEASEHOLD_KEY LEASEHOLD_TOKEN LEASEHOLD_OWNER LEASEHOLD_DEADLINE; cat "$LEASEHOLD_LEASE_FILE"; exit 7'
    const before = liveClock.read().wall
    const { code, stdout, stderr } = await shell.call("run", "k", "--", "sh", "-c", script)
    const [key, token, owner, deadline, ...file] = stdout.split("\n")
    expect({ code, stderr, key }).toEqual({ code: 7, stderr: "", key: "k" })
    const lease = JSON.parse(file.join("\n")) as { deadline: number }
    expect(lease).toMatchObject({ owner, held: true, keys: [{ key: "k", token: Number(token), held: true }] })
    expect(Number(deadline)).toBeGreaterThan(before / 1000 + 20) // of a ttl of 30 s
    expect(Number(deadline)).toBeLessThanOrEqual(lease.deadline / 1000)
    const status = await shell.call("status", "--json", "k")
    expect(JSON.parse(status.stdout)).toMatchObject({ state: "released", ended: { token: Number(token) } })
  })

  // Tests command: A lease file is current until the end; a failing write of it stops no renewal.
  it("finds its lease file wherever it goes, also where TMPDIR is relative", async () => {
    const shell = new Shell(runtime, { TMPDIR: relative(process.cwd(), new Shell().directory) })
    const script = 'echo "$LEASEHOLD_LEASE_FILE"; cd / && cat "$LEASEHOLD_LEASE_FILE"'
    const { code, stdout } = await shell.call("run", "k", "--", "sh", "-c", script)
    const [path, ...lease] = stdout.split("\n")
    expect({ code, whole: isAbsolute(path!) }).toEqual({ code: 0, whole: true })
    expect(JSON.parse(lease.join("\n"))).toMatchObject({ held: true })
  })

  // Tests command: The command has the whole environment of its caller, unchanged.
  it("has the whole environment of its caller, also what no shell could name", async () => {
    const shell = new Shell(runtime, { "a.b": "1 2", "BASH_FUNC_f%%": "() {  echo from f\n}" })
    const { code, stdout } = await shell.call("run", "k", "--", "bash", "-c", "printenv a.b LEASEHOLD_KEY; f")
    expect({ code, stdout }).toEqual({ code: 0, stdout: "1 2\nk\nfrom f\n" })
  })

  it("has it unchanged, also what a shell gives values of its own or would stumble over", async () => {
    const odd = {
      ...{ IFS: "foo", OPTIND: "foo", PPID: "7", PWD: "/nonsense", LINENO: "foo", PS1: "> ", RANDOM: "no" },
      ...{ SHELLOPTS: "noexec", BASHOPTS: "foo", line: "a line", gate: "a gate", code: "a code", "a b": "\n= " },
    }
    const directory = new Shell().directory
    const call = async (more: Readonly<Record<string, string>>, first: string): Promise<Record<string, string>> => {
      const env = { LEASEHOLD_STORE: `file:${directory}`, NO_COLOR: "1", ...more }
      const args = ["run", "k", "--", "env", "-0"]
      const { code, stdout, stderr } = await spawnScript({
        runtime,
        script: leasehold,
        args,
        env,
        under: ["env", first],
      }).ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      const pairs = stdout.split("\0").filter((pair) => pair !== "")
      return Object.fromEntries(
        pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
      )
    }
    const given = { ...process.env, ...odd, LEASEHOLD_STORE: `file:${directory}`, NO_COLOR: "1" }
    const left = ["_", "SHLVL", "OLDPWD", "LEASEHOLD_KEY", "LEASEHOLD_TOKEN", "LEASEHOLD_OWNER"]
    const own = [...left, "LEASEHOLD_DEADLINE", "LEASEHOLD_LEASE_FILE"]
    const all = Object.entries(await call(odd, "A=1")).filter(([name]) => !own.includes(name))
    const expected = Object.entries({ ...given, A: "1" }).filter(([name]) => !own.includes(name))
    expect(Object.fromEntries(all)).toEqual(Object.fromEntries(expected))
    expect(await call({ PWD: process.cwd() }, "A=1")).toMatchObject({ PWD: process.cwd() })
    expect(await call({}, "-uPWD")).not.toHaveProperty("PWD")
  })

  // Tests command: No variable of the command can be seen by other users while its key is waited for.
  it("shows none of it to other users while it waits", async () => {
    const shell = new Shell(runtime, { "a.b": "a secret", PS1: "a secret" })
    const holder = shell.start("run", "k", "--", "sh", "-c", "echo at work; sleep 1000")
    await says(holder, "at work")
    const waits = shell.start("run", "k", "--", "printenv", "a.b", "PS1")
    await says(waits, "waiting for")
    const { stdout } = spawnSync("ps", ["-ww", "-eo", "args"], { encoding: "utf8" })
    expect(stdout).toContain("leasehold run printenv a.b PS1")
    expect(stdout).not.toContain("a secret")
    holder.signal("SIGTERM")
    expect(await waits.ended).toMatchObject({ code: 0, stdout: "a secret\na secret\n" })
  })

  it("reads and writes as if nothing were in between, and its signal is passed on", async () => {
    const run = new Shell(runtime).start("run", "k", "--", "sh", "-c", 'cat; echo err >&2; kill -TERM "$$"')
    run.child.stdin?.end("in\0out\n")
    expect(await run.ended).toEqual({ code: null, signal: "SIGTERM", stdout: "in\0out\n", stderr: "err\n" })
  })

  // Tests command: An exit code is no signal and a signal no exit code; an unknown end is a failure.
  it.each([34, 40, 64])("that ends by signal %i, which has no name, ends with 128 and its number", async (signal) => {
    const ended = await new Shell(runtime).call("run", "k", "--", "sh", "-c", `kill -${signal} $$`)
    expect(ended).toEqual({ code: 128 + signal, signal: null, stdout: "", stderr: "" })
  })

  it("ends by the signal that ended it, and by no code like it", async () => {
    const shell = new Shell(runtime)
    for (const [name, number] of [
      ["INT", 2],
      ["KILL", 9],
      ["TERM", 15],
    ] as const) {
      const call = (line: string): Promise<Ended> => shell.call("run", "k", "--", "sh", "-c", line)
      expect(await call(`kill -s ${name} $$`)).toMatchObject({ code: null, signal: `SIG${name}`, stderr: "" })
      expect(await call(`exit ${128 + number}`)).toMatchObject({ code: 128 + number, signal: null, stderr: "" })
    }
  })

  // Tests command: No process of the run has a descriptor of the caller's, outlives it, or keeps a folder busy.
  it.skipIf(process.platform !== "linux")(
    "has no descriptor of its caller's, nor have those beside it, which stand in no folder of the caller's either",
    async () => {
      const directory = new Shell().directory
      const lock = join(directory, "lock")
      const open = `exec 3>${lock} 4>${lock} 16>${lock} 17>${lock} 200>${lock} && exec "$@"`
      const command = "ls /proc/$$/fd; echo at work; read line"
      const run = spawnScript({
        runtime,
        script: leasehold,
        args: [
          "run",
          "--on-request=exec:echo hook; ls /proc/$$/fd; echo end of hook; sleep 1000",
          "k",
          "--",
          "sh",
          "-c",
          command,
        ],
        env: { LEASEHOLD_STORE: `file:${directory}`, NO_COLOR: "1" },
        under: ["bash", "-c", open, "bash"],
      })
      onTestFinished(() => void run.signal("SIGKILL"))
      await says(run, "at work")
      const asked = [says(run, "end of hook"), says(run, "asks for the key")] // what says so is there from now on
      const env = { LEASEHOLD_STORE: `file:${directory}` }
      await Promise.all([
        ...asked,
        spawnScript({ runtime, script: leasehold, args: ["request", "--for", "1", "k"], env }).ended,
      ])
      const beside = childrenOf(run.child.pid!)
      // keeper, guardian, messenger, hook
      expect(beside.map(({ name }) => name).toSorted()).toEqual(["bash", "bash", "cat", "sh"])
      expect(beside.flatMap(({ open: files }) => files).filter((path) => path.startsWith(lock))).toEqual([])
      expect(beside.filter(({ folder }) => folder === "/").map(({ name }) => name)).toEqual(["bash", "cat"])
      run.child.stdin?.end("\n")
      const open012 = "0\n1\n2\n"
      const stdout = `${open012}at work\nhook\n${open012}end of hook\n`
      expect(await run.ended).toMatchObject({ code: 0, stdout })
      const alive = (): readonly Beside[] =>
        beside.filter(({ pid, startedAt }) => processes.fateOf(pid, startedAt) === "alive")
      await expect.poll(alive, { interval: 5 }).toEqual([]) // told so, they end on their own
    },
  )

  // Tests command: A command has its caller's soft limit of files, and is continued where it is stopped.
  it("is continued where it is stopped, also off a terminal", async () => {
    const ended = await new Shell(runtime).call("run", "k", "--", "sh", "-c", "kill -s STOP $$; echo again; exit 4")
    expect(ended).toEqual({ code: 4, signal: null, stdout: "again\n", stderr: "" })
  })

  it.skipIf(process.platform !== "linux")("has its caller's soft limit of open files", async () => {
    const { code, stdout } = await spawnScript({
      runtime,
      script: leasehold,
      args: ["run", "k", "--", "sh", "-c", "ulimit -S -n; ulimit -H -n"],
      env: { LEASEHOLD_STORE: `file:${new Shell().directory}` },
      under: ["sh", "-c", 'ulimit -S -n 300; ulimit -H -n 400; "$@"; exit $?', "sh"],
    }).ended
    expect({ code, stdout }).toEqual({ code: 0, stdout: "300\n400\n" })
  })

  // Tests command: A run within a run on the same key of the same store is refused.
  it("is refused at once where it would wait for the run that it is a part of", async () => {
    const shell = new Shell(runtime)
    const outer = shell.start("run", "k", "--", "sh", "-c", "printenv | grep ^LEASEHOLD_; echo at work; read line")
    const told = (await says(outer, "at work")).matchAll(/^(LEASEHOLD_\w+)=(.*)$/gm)
    const env = Object.fromEntries([...told].map(([, name, value]) => [name!, value!]))
    const within = (more: Readonly<Record<string, string>>, key: string): Promise<Ended> =>
      new Shell(runtime, { ...env, ...more }).call("run", "--lock-timeout", "infinite", key, "--", "echo", "inner")
    const refused = await within({}, "k")
    expect(refused).toMatchObject({ code: 64, stdout: "" })
    expect(refused.stderr).toMatch(/^leasehold: The key "k" is owned by the run that this one is a part of\. .+\.\n$/)
    expect(await within({}, "other")).toMatchObject({ code: 0, stdout: "inner\n", stderr: "" })
    const elsewhere = { LEASEHOLD_STORE: `file:${new Shell().directory}` }
    expect(await within(elsewhere, "k")).toMatchObject({ code: 0, stdout: "inner\n", stderr: "" })
    outer.child.stdin?.end("\n")
    await outer.ended
    expect(await within({}, "k")).toMatchObject({ code: 0, stdout: "inner\n", stderr: "" })
  })

  it("never ends well where nobody knows how it ended", async () => {
    // Its parent waits for it, and is not there any more when it ends.
    const run = new Shell(runtime).start("run", "k", "--", "sh", "-c", "kill -KILL $PPID; exit 0")
    expect(await run.ended).toMatchObject({ code: 80, signal: null, stderr: expect.stringContaining("is not known") })
  })

  // Tests command: A command runs only while its keys are owned: gated at its start, killed with lease or wrapper.
  it("is killed when the wrapper is, before another is let in", async () => {
    const shell = new Shell(runtime)
    const log = join(shell.directory, "log")
    const deaf = `trap "" TERM; echo "at work $$"; while :; do echo first >>${log}; sleep 0.01; done`
    const first = shell.start("run", "k", "--", "sh", "-c", deaf)
    const [, pid] = /at work (\d+)/.exec(await says(first, "at work")) ?? []
    // What is killed stays in the list of processes until its parent has looked, and does nothing there.
    const works = `case "$(ps -o stat= -p ${pid})" in ''|Z*) ;; *) echo two ;; esac; echo second >>${log}; sleep 0.3; echo mine`
    const second = shell.start("run", "k", "--", "sh", "-c", works)
    await says(second, "waiting for")
    first.signal("SIGKILL")
    expect(await second.ended).toMatchObject({ code: 0, stdout: "mine\n" })
    expect(await first.ended).toMatchObject({ signal: "SIGKILL" })
    expect(readFileSync(log, "utf8")).toMatch(/^(first\n)+second\n$/)
  })
})

describe("a command that is run", () => {
  // Tests command.
  it("begins only once the record names its process group", async () => {
    const shell = new Shell()
    const { stdout } = await shell.call("run", "k", "--", "sh", "-c", `echo $$; cat ${shell.directory}/k.lock`)
    const [group, ...record] = stdout.split("\n")
    expect(JSON.parse(record.join("\n"))).toMatchObject({ owner: { host: { groups: [Number(group)] } } })
  })

  // Tests command: Several keys of a run are taken in one order, each once, all of them or none.
  it("has all its keys, in one order, each once", async () => {
    const shell = new Shell()
    const { stdout } = await shell.call(
      "run",
      "b",
      "a",
      "b",
      "--",
      "sh",
      "-c",
      'echo "$LEASEHOLD_KEY,$LEASEHOLD_TOKEN"',
    )
    expect(stdout).toMatch(/^a\nb,\d+\n\d+\n$/)
  })

  it("has all its keys or none: one that is not to be had in time leaves the others free", async () => {
    const shell = new Shell()
    const holder = shell.start("run", "b", "--", "sh", "-c", "echo at work; sleep 1000")
    await says(holder, "at work")
    const late = await shell.call("run", "--lock-timeout", "5", "c", "b", "a", "--", "echo", "never")
    expect(late).toMatchObject({
      code: 75,
      stdout: "",
      stderr: expect.stringContaining("of 5000 ms (--lock-timeout 5)"),
    })
    const free = await shell.call("run", "--lock-timeout", "0", "a", "c", "--", "printenv", "LEASEHOLD_KEY")
    expect(free).toMatchObject({ code: 0, stdout: "a\nc\n" })
    holder.signal("SIGTERM")
    await holder.ended
  })

  it("ends with what it left behind in its group", async () => {
    const { code, stdout } = await new Shell().call(
      "run",
      "--grace",
      "0.1",
      "k",
      "--",
      "sh",
      "-c",
      "sleep 1000 & echo done",
    )
    expect({ code, stdout }).toEqual({ code: 0, stdout: "done\n" })
  })

  // Tests command: A missing or unexecutable command is reported as by a shell, and frees the key.
  it("that can't be found, or isn't one, ends as in a shell, and is told of by the run itself", async () => {
    const shell = new Shell()
    const [none, text] = [join(shell.directory, "none"), join(shell.directory, "text")]
    writeFileSync(text, "true\n", { mode: 0o644 })
    const why = {
      there: "there is no such program in PATH",
      path: "there is no such file",
      not: "it is not executable",
    }
    for (const [name, code, reason] of [
      ["no-such-command", 127, why.there],
      [none, 127, why.path],
      [text, 126, why.not],
    ] as const) {
      const said = `The command "${name}" can't be started: ${reason}`
      const plain = await shell.call("run", "k", "--", name)
      expect(plain).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(/^leasehold: .+\.\n$/) })
      expect(plain.stderr).toContain(said)
      const json = await shell.call("run", "--json", "k", "--", name)
      expect({ code: json.code, ...(JSON.parse(json.stderr) as object) }).toEqual({
        ...{ code, exitCode: code, error: "StartError", message: said, next: expect.stringMatching(/./) },
      })
    }
    const status = await shell.call("status", "--json", "k")
    expect(JSON.parse(status.stdout)).toMatchObject({ state: "released" })
  })

  it("is looked for in each folder of PATH, also relative ones", async () => {
    const folder = relative(process.cwd(), new Shell().directory)
    writeFileSync(join(folder, "my-program"), "#!/bin/sh\necho mine\n", { mode: 0o755 })
    const PATH = `/nonexistent:/dev/null:${folder}:${process.env["PATH"]}`
    const found = await new Shell("node", { PATH }).call("run", "k", "--", "my-program")
    expect(found).toMatchObject({ code: 0, stdout: "mine\n", stderr: "" })
  })

  it("is never taken for a variable: one with = is refused where env(1) passes variables on", async () => {
    const program = join(new Shell().directory, "a=b")
    writeFileSync(program, '#!/bin/sh\necho "right $1"\n', { mode: 0o755 })
    expect(await new Shell().call("run", "k", "--", program, "echo")).toMatchObject({
      code: 0,
      stdout: "right echo\n",
    })
    const refused = await new Shell("node", { PS1: "$ " }).call("run", "k", "--", program, "echo", "wrong")
    expect(refused).toMatchObject({ code: 126, stdout: "", stderr: expect.stringContaining('has a "="') })
  })

  // Tests command: A signal that runtimes ignore, such as SIGPIPE, is passed on as 128 and its number.
  it("that ends by a signal which runtimes ignore ends as a shell says it", async () => {
    expect(await new Shell().call("run", "k", "--", "sh", "-c", 'kill -PIPE "$$"')).toMatchObject({ code: 141 })
  })

  it("leaves no file behind", async () => {
    const { stdout } = await new Shell().call("run", "k", "--", "printenv", "LEASEHOLD_LEASE_FILE")
    const [, folder] = /(leasehold-run-\w+)/.exec(stdout) ?? []
    expect(folder).toBeDefined()
    expect(readdirSync(tmpdir())).not.toContain(folder)
  })

  it("is killed in time when the wrapper is stopped, and the wrapper says that its lease was lost", async () => {
    const shell = new Shell()
    const first = shell.start(
      "run",
      "--ttl",
      "4",
      "k",
      "--",
      "sh",
      "-c",
      'trap "" TERM; echo "at work $$"; while :; do sleep 1; done',
    )
    const [, pid] = /at work (\d+)/.exec(await says(first, "at work")) ?? []
    first.signal("SIGSTOP")
    // Its zombie stays until the wrapper can hear of it.
    const second = await shell.call("run", "k", "--", "sh", "-c", `ps -o stat= -p ${pid} | grep -v Z; echo mine`)
    expect(second.stdout).toBe("mine\n")
    first.signal("SIGCONT")
    const { code, stderr } = await first.ended
    expect({ code, stderr }).toEqual({ code: 79, stderr: expect.stringContaining("was lost") })
    expect(stderr).not.toMatch(/ENOENT|told to end/) // it was killed, and nothing was taken from it
  })

  it("is told to end when its lease is taken away, and killed if it doesn't", async () => {
    const shell = new Shell()
    const run = shell.start(
      "run",
      "--ttl",
      "5min",
      "k",
      "--",
      "sh",
      "-c",
      'trap "echo told" TERM; echo at work; while :; do sleep 0.1; done',
    )
    await says(run, "at work")
    const { generation } = JSON.parse((await shell.call("status", "--json", "k")).stdout) as { generation: string }
    expect(await shell.call("unlock", "k", "--generation", generation)).toMatchObject({ code: 0 })
    expect(await run.ended).toMatchObject({ code: 79, stdout: "at work\ntold\n" })
  })
})

describe("a wait", () => {
  // Tests command: A cancelled wait and one out of time end with codes of their own, and leave no mark.
  it("ends in a timeout that names the holder and the budget's source, with the exit code that is wanted", async () => {
    const shell = new Shell()
    const holder = shell.start("run", "k", "--", "sh", "-c", "echo at work; sleep 1000")
    await says(holder, "at work")
    const [late, wanted, cancelled] = [
      await shell.call("run", "--lock-timeout", "6.5", "k", "--", "true"),
      await shell.call("run", "--lock-timeout", "0", "-E", "0", "k", "--", "true"),
      shell.start("run", "k", "--", "true"),
    ]
    expect(late).toMatchObject({ code: 75, stderr: expect.stringContaining("--lock-timeout 6.5") })
    expect(late.stderr).toContain(`(pid ${holder.child.pid} on`)
    expect(wanted.code).toBe(0)
    await says(cancelled, "waiting for")
    cancelled.signal("SIGTERM")
    expect(await cancelled.ended).toMatchObject({ code: 77, signal: null })
    const status = JSON.parse((await shell.call("status", "--json", "k")).stdout) as object
    expect(status).toMatchObject({ state: "owned", waiter: null })
    holder.signal("SIGTERM")
    expect(await holder.ended).toMatchObject({ signal: "SIGTERM" })
  })

  it("that asked takes its mark back before it ends, cancelled or out of time", async () => {
    const shell = new Shell()
    const holder = shell.start("run", "--on-request", "ignore", "k", "--", "sh", "-c", "echo at work; sleep 1000")
    await says(holder, "at work")
    const cancelled = shell.start("run", "--ask", "k", "--", "true")
    await isWaitedFor(shell, "k", cancelled)
    cancelled.signal("SIGTERM")
    expect(await cancelled.ended).toMatchObject({ code: 77, signal: null })
    expect(await waiterOf(shell, "k")).toBeNull()
    const late = shell.start("run", "--ask", "--lock-timeout", "6", "k", "--", "true")
    await isWaitedFor(shell, "k", late)
    expect(await late.ended).toMatchObject({ code: 75 })
    expect(await waiterOf(shell, "k")).toBeNull()
    holder.signal("SIGTERM")
    await holder.ended
  })

  // Tests command: Several runs on one key have their turns alone; those that ask come before those that wait.
  it("of several on one key gives each its turn, alone", async () => {
    const shell = new Shell()
    const script = `mkdir ${shell.directory}/busy || echo two; sleep 0.05; rmdir ${shell.directory}/busy`
    const runs = await Promise.all([1, 2, 3, 4, 5].map(() => shell.call("run", "k", "--", "sh", "-c", script)))
    expect(runs.map(({ code, stdout }) => ({ code, stdout }))).toEqual(runs.map(() => ({ code: 0, stdout: "" })))
  })
})

describe("a run that asks and doesn't queue", () => {
  it("fails where another asks already, with the exit code that is wanted", async () => {
    const shell = new Shell()
    const holder = shell.start("run", "--on-request", "ignore", "k", "--", "sh", "-c", "echo at work; sleep 1000")
    await says(holder, "at work")
    const asks = shell.start("run", "--ask", "k", "--", "true")
    await isWaitedFor(shell, "k", asks)
    const words = ["--ask", "--no-queue", "k", "--", "echo", "mine"]
    expect(await shell.call("run", ...words)).toMatchObject({ code: 76, stdout: "" })
    expect(await shell.call("run", "-E", "9", ...words)).toMatchObject({ code: 9, stdout: "" })
  })
})

describe("a store that can't be reached", () => {
  it("fails a run and a look at a key with a code of its own", async () => {
    const shell = new Shell("node", { STORAGE_EMULATOR_HOST: "http://127.0.0.1:9" })
    const at = ["--store", "gs://nowhere"]
    const [run, status] = await Promise.all([
      shell.call("run", ...at, "--lock-timeout", "0", "k", "--", "echo", "mine"),
      shell.call("status", ...at, "k"),
    ])
    expect(run).toMatchObject({ code: 69, stdout: "" })
    expect(status).toMatchObject({ code: 69, stdout: "" })
  })
})
