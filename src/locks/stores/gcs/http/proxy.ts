/**
 * Which proxy a server is reached by, as curl reads the environment: for https the first of `https_proxy` and
 * `HTTPS_PROXY`, for http `http_proxy` alone (a CGI program gets HTTP_PROXY from its caller), unless `no_proxy` or
 * `NO_PROXY` names the server. What is empty counts as unset. A proxy that names no scheme is spoken http.
 *
 * Not done: ALL_PROXY is not read, and SOCKS is refused. A port that is left out is the scheme's, where curl takes
 * 1080.
 */
import { BlockList, isIP } from "node:net"
import { InvalidConfigError } from "../../../api/errors.ts"
import { firstVariable } from "./environment.ts"

/** Undefined where the server is reached directly. Throws InvalidConfigError for a variable that names no proxy. */
export function proxyOf(server: URL): URL | undefined {
  const given = server.protocol === "https:" ? firstVariable("https_proxy", "HTTPS_PROXY") : firstVariable("http_proxy")
  if (given === undefined || isExempt(bare(server.hostname))) return undefined
  const text = given.value.includes("://") ? given.value : `http://${given.value}`
  const proxy = URL.canParse(text) ? new URL(text) : undefined
  if (proxy !== undefined && /^https?:$/.test(proxy.protocol)) return proxy
  throw new InvalidConfigError({
    message: `${given.name} names no proxy: it is not a host with a port of at most 65535, nor an http or https URL of one`,
    next: `Give one such as http://proxy.example.com:3128, unset it, or name ${server.hostname} in no_proxy`,
  })
}

function isExempt(host: string): boolean {
  const list = (firstVariable("no_proxy", "NO_PROXY")?.value ?? "").split(/[\s,]+/)
  return list.some((entry) => entry === "*" || (entry !== "" && covers(bare(entry.toLowerCase()), host)))
}

/** A name covers itself and what is below it; an address covers itself, or its network (`10.0.0.0/8`). */
function covers(entry: string, host: string): boolean {
  if (isIP(host) !== 0) return entry === host || isInNetwork(host, entry)
  const name = entry.replace(/^\./, "").replace(/\.$/, "")
  return name !== "" && (host === name || host.endsWith(`.${name}`))
}

function isInNetwork(host: string, entry: string): boolean {
  const [, network = "", bits = ""] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? []
  const family = isIP(network)
  if (family === 0 || family !== isIP(host) || Number(bits) > (family === 4 ? 32 : 128)) return false
  const type = family === 4 ? "ipv4" : "ipv6"
  const networks = new BlockList()
  networks.addSubnet(network, Number(bits), type)
  return networks.check(host, type)
}

/** Without the brackets of an IPv6 address. */
const bare = (host: string): string => host.replace(/^\[(.*)\]$/, "$1")
