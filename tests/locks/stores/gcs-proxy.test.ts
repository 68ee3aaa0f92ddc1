// Which proxy the GCS store goes by: the variables as curl reads them, refused by name where they name none, and obeyed
// by real requests over real HTTP. tests/integration/gcs-store.test.ts has https, and processes that are started with
// these variables.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { proxyOf } from "../../../src/locks/stores/gcs/http/proxy.ts"
import { gcsStore } from "../../../src/locks/stores/gcs/mod.ts"
import { within } from "../../support/gcs-stores.ts"
import { startStrictGcs } from "../../support/strict-gcs-server.ts"

const VARIABLES = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY", "ALL_PROXY"]

beforeEach(() => {
  for (const name of VARIABLES) vi.stubEnv(name, "")
})

afterEach(() => vi.unstubAllEnvs())

function environment(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
}

const GCS = "https://storage.googleapis.com"

describe("the proxy of a server", () => {
  // Tests stores: A proxy is the environment's, as curl reads it, and never a CGI caller's; a bad one is refused.
  it.each<[Record<string, string>, string, string | undefined]>([
    [{}, GCS, undefined],
    [{ https_proxy: "http://small:1", HTTPS_PROXY: "http://large:2" }, GCS, "http://small:1/"],
    [{ https_proxy: "", HTTPS_PROXY: "http://large:2" }, GCS, "http://large:2/"],
    [{ https_proxy: "proxy:3128" }, GCS, "http://proxy:3128/"],
    [{ https_proxy: "https://user:word@proxy" }, GCS, "https://user:word@proxy/"],
    [{ http_proxy: "http://small:1", HTTP_PROXY: "http://large:2", ALL_PROXY: "http://all:3" }, GCS, undefined],
    [{ http_proxy: "http://small:1" }, "http://emulator:4443", "http://small:1/"],
    [{ HTTP_PROXY: "http://large:2", https_proxy: "http://small:1" }, "http://emulator:4443", undefined],
  ])("by %j is for %s: %s", (variables, server, proxy) => {
    environment(variables)
    expect(proxyOf(new URL(server))?.href).toBe(proxy)
  })

  it.each<[string, string, boolean]>([
    ["storage.googleapis.com", GCS, true],
    [".googleapis.com", GCS, true],
    ["googleapis.com", GCS, true],
    ["GoogleAPIs.com", GCS, true],
    ["apis.com", GCS, false],
    ["other.test, googleapis.com", GCS, true],
    ["other.test googleapis.com", GCS, true],
    ["*", GCS, true],
    ["*.googleapis.com", GCS, false],
    [".", GCS, false],
    ["199.36.153.8", "https://199.36.153.8", true],
    ["199.36.153.0/24", "https://199.36.153.8", true],
    ["199.36.154.0/24", "https://199.36.153.8", false],
    ["199.36.153.0/33", "https://199.36.153.8", false],
    ["[2600:2d00::1]", "https://[2600:2d00::1]", true],
    ["2600:2d00::/32", "https://[2600:2d00::1]", true],
    ["199.36.153.0/24", "https://[2600:2d00::1]", false],
  ])("is none by no_proxy=%s for %s: %s", (list, server, none) => {
    environment({ https_proxy: "http://proxy:3128", no_proxy: list })
    expect(proxyOf(new URL(server)) === undefined).toBe(none)
  })

  it("is none by NO_PROXY where no_proxy is empty, and not where it isn't", () => {
    environment({ https_proxy: "http://proxy:3128", NO_PROXY: "*" })
    expect(proxyOf(new URL(GCS))).toBeUndefined()
    environment({ no_proxy: "other.test" })
    expect(proxyOf(new URL(GCS))).toBeDefined()
  })

  it.each<[string, string]>([
    ["https_proxy", "http://user:word@proxy:99999"],
    ["HTTPS_PROXY", "http://user:word@a host"],
    ["HTTPS_PROXY", "proxy:port"],
    ["https_proxy", "socks5://user:word@proxy"],
    ["https_proxy", "http://"],
  ])("is refused by name, and not shown, where %s is %s", async (name, value) => {
    environment({ [name]: value })
    const store = gcsStore({ bucket: "bucket", endpoint: GCS })
    const error: unknown = await store.start(within).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ _tag: "InvalidConfigError", retryable: false })
    expect(String(error)).toContain(`${name} names no proxy`)
    expect(String(error)).not.toContain("word")
    await store.close()
  })
})

describe("a store behind a proxy", () => {
  /** A server takes the requests that a proxy gets: their URL is absolute. */
  const stranger = { bucket: "bucket", endpoint: "http://gcs.invalid" }

  it("sends it what is for an http endpoint, with what the proxy is to be shown", async () => {
    await using server = await startStrictGcs()
    environment({ http_proxy: server.url.replace("//", "//user:word@") })
    const store = gcsStore(stranger)
    await store.start({ deadline: 10_000 })
    expect(new Set(server.requests.map(({ headers }) => headers.host))).toEqual(new Set(["gcs.invalid"]))
    expect(server.requests[0]?.headers["proxy-authorization"]).toBe(`Basic ${btoa("user:word")}`)
    await store.close()
  })

  // Tests stores.
  it("goes by no proxy of another's: HTTP_PROXY, ALL_PROXY, or where no_proxy names the endpoint", async () => {
    await using server = await startStrictGcs()
    const dead = "http://127.0.0.1:9"
    environment({ HTTP_PROXY: dead, ALL_PROXY: dead, http_proxy: dead, no_proxy: "127.0.0.1" })
    const store = gcsStore({ bucket: "bucket", endpoint: server.url })
    await expect(store.start({ deadline: 10_000 })).resolves.toBeUndefined()
    await store.close()
  })
})
