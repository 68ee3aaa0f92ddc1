/** What a shell makes of an environment on its way to a command: whichever shell `/bin/sh` is. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { expect, it } from "vitest"
import { passageOf } from "../../src/cli/run/process/passage.ts"

/** Each with what makes it the shell that it is as /bin/sh. */
const shells: readonly (readonly [shell: string, ...as: string[]])[] = [
  ["/bin/sh"],
  ["/bin/dash"],
  ["/bin/bash", "--posix"],
  ["/bin/busybox", "sh"],
]

// Tests command: The command has the whole environment of its caller, unchanged.
it.each(shells.filter(([shell]) => existsSync(shell)))(
  "gets through %s unchanged, also what it couldn't name or would set",
  (shell, ...as) => {
    const every = Array.from({ length: 254 }, (_, code) => String.fromCodePoint(code + 1)).join("")
    const env = {
      ...{
        PATH: "/usr/bin:/bin",
        A: "1",
        "a.b": every,
        "BASH_FUNC_f%%": "() {  echo '100%' \\c \\0101 €\n}",
        PS1: "\\u\n\n",
        "lo.ng": `${"é\\\t".repeat(25_000)}\n`,
      },
      ...{ LC_ALL: "C.UTF-8", IFS: "a", leasehold_bytes_0: "mine", PWD: "/nonsense", EMPTY: "", "e.mpty": "" },
    }
    const { shell: given, line, isByEnv } = passageOf(env)
    const pairsGiven = Object.entries(given).map(([name, value]) => `${name}=${value}`)
    const words = [...as, "-c", `${line}\nexec "$@"`, "sh", "env", "-0"]
    // Deno adds its own environment to what a child is given.
    const { stdout, stderr } = spawnSync("/usr/bin/env", ["-i", ...pairsGiven, shell, ...words], {
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
    })
    expect(stderr).toBe("")
    const pairs = stdout.split("\0").filter((pair) => !/^(_|SHLVL|OLDPWD)=|^$/.test(pair))
    expect(pairs.toSorted()).toEqual(
      Object.entries(env)
        .map(([name, value]) => `${name}=${value}`)
        .toSorted(),
    )
    expect(isByEnv).toBe(true)
    expect(passageOf({ PATH: "/bin" }).isByEnv).toBe(false)
  },
)
