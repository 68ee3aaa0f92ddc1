// The file store in a process of its own: what it needs of Deno's permissions, and that it keeps no process alive.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it, onTestFinished } from "vitest"
import { type Runtime, type Script, spawnScript } from "./support/spawn.ts"

const sources = fileURLToPath(new URL("../..", import.meta.url))
const worked = "second\nsecond\nkey/head\n"

async function child(runtime: Runtime, permissions?: (directory: string) => Script["permissions"] & {}) {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-process-"))
  onTestFinished(() => rm(directory, { recursive: true }))
  const { code, stdout, stderr } = await spawnScript({
    runtime,
    script: new URL("./file-child.ts", import.meta.url),
    args: [directory],
    ...(permissions === undefined ? {} : { permissions: permissions(directory) }),
  }).ended
  return { directory, code, stdout, stderr }
}

describe("a process that used a file store", () => {
  it.each<Runtime>(["node", "deno"])("ends by itself when it has nothing else to do (%s)", async (runtime) => {
    expect(await child(runtime)).toMatchObject({ code: 0, stdout: worked, stderr: "" })
  })

  it("needs no more of Deno than to read and write the directory", async () => {
    const permissions = (directory: string) => [`--allow-read=${directory},${sources}`, `--allow-write=${directory}`]
    expect(await child("deno", permissions)).toMatchObject({ code: 0, stdout: worked, stderr: "" })
  })

  it("is told by Deno's refusal what to permit", async () => {
    const { directory, stdout } = await child("deno", () => [`--allow-read=${sources}`])
    expect(stdout).toContain(
      `StoreMisconfiguredError: The directory ${directory} failed with NotCapable while starting`,
    )
    expect(stdout).toContain("Run deno with --allow-read and --allow-write for this directory")
  })
})
