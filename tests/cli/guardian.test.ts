/** What a guardian kills and when, and what it needs of the system for that. */
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { Guardian } from "../../src/cli/run/process/guardian.ts"
import { helperShell } from "../../src/cli/run/process/helper-shell.ts"
import { GUARDIAN } from "../../src/cli/run/process/scripts.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"

/** A process group that ends by itself in a minute. */
function group(): { readonly id: number; readonly ended: Promise<NodeJS.Signals | null> } {
  const child = spawn("/bin/sleep", ["60"], { detached: true, stdio: "ignore" })
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals | null>()
  child.once("exit", (_, signal) => resolve(signal))
  onTestFinished(() => void child.kill("SIGKILL"))
  return { id: child.pid!, ended: promise }
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "leasehold-guardian-"))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** A guardian as its wrapper starts it, to be told line by line. `said` settles with the first that it says. */
function guardian(clock: "boot" | "wall", own: string, env: Readonly<Record<string, string>>): Told {
  const [shell, ...words] = helperShell()
  const child = spawn(shell, [...words, "-c", GUARDIAN, "guardian", clock, own], {
    env: { ...env },
    stdio: ["pipe", "pipe", "ignore"],
  })
  child.stdin.on("error", () => {}) // it is gone
  onTestFinished(() => void child.kill("SIGKILL"))
  return {
    pid: child.pid!,
    tell: (line) => void child.stdin.write(`${line}\n`),
    end: () => void child.stdin.end(),
    said: new Promise((resolve) => child.stdout.once("data", (text: Buffer) => resolve(text.toString()))),
    ended: new Promise((resolve) => child.once("exit", resolve)),
  }
}

interface Told {
  readonly pid: number
  tell(line: string): void
  end(): void
  readonly said: Promise<string>
  readonly ended: Promise<unknown>
}

/** As a guardian counts: in hundredths of a second. */
const moment = (clock: "boot" | "wall", ms: number): string => {
  const { wall, boot } = liveClock.read()
  return String(Math.floor(((clock === "boot" ? boot : wall) + ms) / 10))
}

describe.skipIf(process.platform === "win32")("a guardian", () => {
  // Tests command: No environment, lack of processes or stop keeps a guardian from its work.
  // Tests command: Programs that the command starts beside what it runs are the system's, whatever PATH has.
  it("uses the system's programs, whatever its caller's PATH has under their names", async () => {
    const [theirs, log] = [folder(), join(folder(), "log")]
    for (const name of ["sleep", "date", "rm", "ps"]) {
      writeFileSync(join(theirs, name), `#!/bin/sh\necho ${name} >>${log}\nexec /bin/${name} "$@"\n`, { mode: 0o755 })
    }
    vi.stubEnv("PATH", `${theirs}:${process.env["PATH"]}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { id, ended } = group()
    const watching = new Guardian(Promise.resolve(id), folder(), liveClock)
    await watching.ready
    watching.allow(liveClock.read().wall + 500)
    expect(await ended).toBe("SIGKILL")
    watching.dismiss()
    expect(existsSync(log)).toBe(false)
  })

  it("reads no file of its caller's, as bash would that is spoken to by a socket", async () => {
    const [home, log] = [folder(), join(folder(), "log")]
    for (const name of [".bashrc", ".profile"]) writeFileSync(join(home, name), `echo ${name} >>${log}\n`)
    const env = { HOME: home, BASH_ENV: join(home, ".bashrc"), PATH: "/usr/bin:/bin" }
    const watching = guardian("boot", folder(), env)
    watching.tell("done")
    expect(await watching.ended).toBe(0)
    expect(existsSync(log)).toBe(false)
  })

  // Tests command: A guardian kills its group at the deadline or without its wrapper, and no other of that number.
  it.skipIf(!existsSync("/bin/dash"))("kills nothing where its shell can't read with a timeout, and ends", async () => {
    const { id } = group()
    const child = spawn("/bin/dash", ["-c", GUARDIAN, "guardian", "boot", folder()], {
      stdio: ["pipe", "ignore", "ignore"],
    })
    child.stdin.on("error", () => {}) // it is gone
    child.stdin.write(`${id}\n${moment("boot", 60_000)}\n`)
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(1)
    expect(() => process.kill(id, 0)).not.toThrow()
  })

  it.each(["boot", "wall"] as const)(
    "kills the group at its moment, and stays until it is dismissed (%s)",
    async (clock) => {
      const { id, ended } = group()
      const own = folder()
      const watching = guardian(clock, own, { PATH: "/usr/bin:/bin" })
      watching.tell(String(id))
      expect(await watching.said).toBe("seen\n")
      watching.tell(moment(clock, 60_000))
      watching.tell(moment(clock, 100))
      expect(await ended).toBe("SIGKILL")
      watching.tell("done")
      expect(await watching.ended).toBe(0)
      expect(existsSync(own)).toBe(true) // its wrapper's, which lives
    },
  )

  it("kills the group and removes the folder when its wrapper is gone", async () => {
    const { id, ended } = group()
    const own = folder()
    const watching = guardian("boot", own, { PATH: "/usr/bin:/bin" })
    watching.tell(String(id))
    watching.tell(moment("boot", 60_000))
    watching.end()
    expect(await ended).toBe("SIGKILL")
    expect(await watching.ended).toBe(0)
    expect(existsSync(own)).toBe(false)
  })

  it.skipIf(process.platform !== "linux")(
    "starts no process while it watches: it kills without a program to start",
    async () => {
      const { id, ended } = group()
      const watching = guardian("boot", folder(), { PATH: "/nonexistent" })
      watching.tell(String(id))
      watching.tell(moment("boot", 60_000))
      expect(await watching.said).toBe("seen\n")
      const { pid } = watching
      expect(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")).toBe("")
      watching.tell(moment("boot", 100))
      expect(await ended).toBe("SIGKILL")
    },
  )

  it("goes on when it was stopped alone, once its wrapper has renewed the lease", async () => {
    const { id, ended } = group()
    const watching = new Guardian(Promise.resolve(id), folder(), liveClock)
    onTestFinished(() => watching.dismiss())
    await watching.ready
    const { stdout } = spawnSync("ps", ["-o", "pid=,args=", "--ppid", String(process.pid)], { encoding: "utf8" })
    const pid = Number.parseInt(stdout.split("\n").find((line) => line.includes("leasehold guardian")) ?? "", 10)
    process.kill(pid, "SIGSTOP")
    watching.allow(liveClock.read().wall + 100)
    expect(await ended).toBe("SIGKILL")
  })

  it("goes by the last moment that it was told, also where it was held up and has yet to read it", async () => {
    const { id, ended } = group()
    const watching = guardian("boot", folder(), { PATH: process.env["PATH"]! })
    watching.tell(String(id))
    expect(await watching.said).toBe("seen\n")
    process.kill(watching.pid, "SIGSTOP")
    for (const ms of [-20_000, -10_000, 30_000]) watching.tell(moment("boot", ms))
    process.kill(watching.pid, "SIGCONT")
    watching.tell("done")
    await watching.ended
    expect(spawnSync("ps", ["-o", "stat=", "-p", String(id)], { encoding: "utf8" }).stdout).toMatch(/^S/)
    process.kill(id, "SIGKILL")
    await ended
  })

  /** In a namespace of processes of its own, where the next number can be chosen. */
  const isolated = ["--pid", "--fork", "--kill-child", "--mount-proc", "/bin/sh", "-c"]
  /**
   * Processes that start in one hundredth of a second can't be told apart by when they did, but no number is given anew
   * as soon.
   */
  const REUSED = `
uptime_() {
  read -r now rest </proc/uptime && echo "\${now%.*}\${now#*.}"
}
mkfifo "$2/in" "$2/out"
setsid sleep 60 & first=$!
until kill -s 0 -- "-$first" 2>/dev/null; do :; done
"$1" -p -c "$3" guardian boot "$2/own" <"$2/in" >"$2/out" & guardian=$!
exec 8>"$2/in" 9<"$2/out"
echo "$first" >&8
read -r seen <&9
kill -KILL "$first"
wait "$first" 2>/dev/null
from=$(uptime_)
until [ "$(uptime_)" -ge "$((from + 2))" ]; do :; done
echo "$((first - 1))" >/proc/sys/kernel/ns_last_pid
setsid sleep 60 8>&- & second=$!
[ "$second" = "$first" ] || exit 9
until kill -s 0 -- "-$second" 2>/dev/null; do :; done
exec 8>&-
wait "$guardian"
kill -0 "$second" && echo spared`

  // Tests command.
  it.skipIf(spawnSync("unshare", [...isolated, "true"]).status !== 0)(
    "never kills a group that has the number of the one it was told of",
    () => {
      const { stdout, stderr } = spawnSync(
        "unshare",
        [...isolated, REUSED, "sh", helperShell()[0], folder(), GUARDIAN],
        {
          encoding: "utf8",
          timeout: 120_000,
        },
      )
      expect({ stdout, stderr }).toEqual({ stdout: "spared\n", stderr: "" })
    },
  )
})
