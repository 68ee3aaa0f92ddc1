/** The command on a bucket: the recipes of docs/command.md as they are written there, on two machines that share it. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { type Delivered, startFaultProxy } from "../support/fault-proxy/proxy.ts"
import { federated } from "../support/gcs-stores.ts"
import { startStrictGcs } from "../support/strict-gcs-server.ts"
import { isWaitedFor, says, Shell, waiterOf } from "./support/command.ts"
import { gcsTarget } from "./support/gcs-target.ts"

const onEmulator = gcsTarget().endpoint !== undefined

/** What docs/command.md says to type: the words between `leasehold` and the command of the line that has this key. */
function recipe(key: string): string[] {
  const page = readFileSync(new URL("../../docs/command.md", import.meta.url), "utf8")
  const line = new RegExp(`leasehold (run .*--exit-code \\d+ ${key} --) /?[./]`).exec(page)?.[1]
  if (line === undefined) throw new Error(`docs/command.md has no recipe for ${key}`)
  return line.split(" ")
}

/** The same with one of its words replaced. */
function instead(words: readonly string[], of: string, word: string): string[] {
  expect(words).toContain(of)
  return words.with(words.indexOf(of), word)
}

/** Two machines that know one bucket, and where a command on either may write down what it did. */
function machines(): { readonly one: Shell; readonly other: Shell; readonly store: string } {
  const { bucket, prefix, endpoint } = gcsTarget()
  const store = `gs://${bucket}/${prefix}`
  const env = { LEASEHOLD_STORE: store, ...(endpoint !== undefined && { STORAGE_EMULATOR_HOST: endpoint }) }
  return { one: new Shell("node", env), other: new Shell("deno", env), store }
}

describe("the command on a bucket", () => {
  // Tests command: What a page tells to type runs as it stands there.
  it("runs a cron job on one of two machines, and skips it in peace on the other", async () => {
    const { one, other, store } = machines()
    const flags = instead(recipe("nightly"), "gs://locks/cron", store)
    const first = one.start(...flags, "sh", "-c", "echo at work; read line; echo done")
    await says(first, "at work")
    const skipped = await other.call(...flags, "sh", "-c", "echo mine, too")
    expect(skipped).toMatchObject({ code: 0, stdout: "" })
    expect(skipped.stderr).toContain("nightly")
    first.child.stdin?.end("\n")
    expect(await first.ended).toMatchObject({ code: 0, stdout: "at work\ndone\n" })
  })

  it("lets a deploy wait for the one before it, and tells by its exit code where that took too long", async () => {
    const { one, other } = machines()
    const log = join(one.directory, "log")
    writeFileSync(log, "")
    const deploy = recipe("deploy")
    const first = one.start(...deploy, "sh", "-c", `echo at work; read line; echo first >>${log}`)
    await says(first, "at work")
    expect(await other.call(...instead(deploy, "10min", "5"), "sh", "-c", `echo early >>${log}`)).toMatchObject({
      code: 99,
    })
    const second = other.start(...deploy, "sh", "-c", `echo second >>${log}`)
    await says(second, "deploy")
    first.child.stdin?.end("\n")
    expect((await first.ended).code).toBe(0)
    expect((await second.ended).code).toBe(0)
    expect(readFileSync(log, "utf8")).toBe("first\nsecond\n")
  })

  // Tests command: A cancelled wait and one out of time end with codes of their own, and leave no mark.
  it("takes its mark back before it ends, cancelled or out of time", async () => {
    const { one, other } = machines()
    const holder = one.start("run", "--on-request", "ignore", "k", "--", "sh", "-c", "echo at work; sleep 1000")
    await says(holder, "at work")
    const asks = ["run", "--ask", "k", "--", "echo", "never"]
    const cancelled = other.start(...asks)
    await isWaitedFor(one, "k", cancelled)
    cancelled.signal("SIGTERM")
    expect(await cancelled.ended).toMatchObject({ code: 77, signal: null, stdout: "" })
    expect(await waiterOf(one, "k")).toBeNull()
    const late = other.start("run", "--lock-timeout", "12", ...asks.slice(1))
    await isWaitedFor(one, "k", late)
    expect(await late.ended).toMatchObject({ code: 75, stdout: "" })
    expect(await waiterOf(one, "k")).toBeNull()
    expect(await one.call("request", "--for", "4", "k")).toMatchObject({ code: 0 })
    expect(await waiterOf(one, "k")).toBeNull()
    holder.signal("SIGTERM")
    await holder.ended
  })

  // Who pays for a real bucket is its owner's to say.
  // Tests stores: Where requesters pay, every request names the project that does.
  it.skipIf(!onEmulator)("has the project pay that the store's name names, and says how where none does", async () => {
    const { bucket, prefix, endpoint = "" } = gcsTarget()
    await using proxy = await startFaultProxy({ target: endpoint })
    const missing = { kind: "status", when: "before", status: 400, reason: "UserProjectMissing" } as const
    using _ = proxy.always({ of: /^(?!.*&userProject=payer-1$)/, fault: missing })
    const user = new Shell("node", { STORAGE_EMULATOR_HOST: new URL(proxy.url).host })
    const store = `gs://${bucket}/${prefix}`
    const refused = await user.call("run", "--store", store, "k", "--", "echo", "never")
    expect(refused).toMatchObject({ code: 71, stdout: "" })
    expect(refused.stderr).toContain("gs://BUCKET/PREFIX?userProject=PROJECT")
    const paid = await user.call("run", "--store", `${store}?userProject=payer-1`, "k", "--", "echo", "done")
    expect(paid).toMatchObject({ code: 0, stdout: "done\n" })
  })

  // Tests stores: Credentials go to Cloud Storage and the named endpoint, and never in the open to another machine.
  it.skipIf(!onEmulator).each(["node", "deno"] as const)(
    "shows its credentials, on %s, to the endpoint that the environment names for them",
    async (runtime) => {
      const { bucket, prefix, endpoint = "" } = gcsTarget()
      await using tokens = await startStrictGcs()
      const shown = new Set<unknown>()
      const delivered = ({ request }: Delivered): void => void shown.add(request.headers["authorization"])
      await using proxy = await startFaultProxy({ target: endpoint, delivered })
      const folder = mkdtempSync(join(tmpdir(), "leasehold-credentials-"))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      writeFileSync(join(folder, "adc.json"), JSON.stringify(federated(tokens.url)))
      const user = new Shell(runtime, {
        LEASEHOLD_STORE: `gs://${bucket}/${prefix}`,
        STORAGE_EMULATOR_HOST: "",
        CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE: `${proxy.url}/storage/v1/`,
        GOOGLE_APPLICATION_CREDENTIALS: join(folder, "adc.json"),
      })
      expect(await user.call("run", "k", "--", "echo", "done")).toMatchObject({ code: 0, stdout: "done\n" })
      expect(shown).toEqual(new Set(["Bearer token-1"]))
      expect(tokens.counts["token"]).toBe(1)
    },
  )

  it("shows, lists, frees and examines what is there", async () => {
    const { one, store } = machines()
    const at = ["--store", store, "--json"]
    const holder = one.start(
      "run",
      "--store",
      store,
      "--ttl",
      "5min",
      "jobs/a",
      "--",
      "sh",
      "-c",
      "echo at work; sleep 1000",
    )
    await says(holder, "at work")
    const status = JSON.parse((await one.call("status", ...at, "jobs/a")).stdout) as Record<string, unknown>
    expect(status).toMatchObject({ key: "jobs/a", state: "owned" })
    expect((await one.call("ls", ...at, "jobs/")).stdout).toContain('"jobs/a"')
    const freed = await one.call("unlock", ...at, "jobs/a", "--generation", String(status["generation"]))
    expect(freed.code).toBe(0)
    expect((await holder.ended).code).toBe(79) // its lease is lost
    expect((await one.call("doctor", ...at)).stdout).toContain('"versioning"')
    expect(existsSync(join(one.directory, "leases"))).toBe(false)
  })
})
