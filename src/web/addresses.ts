/** Addresses of workers, and those to listen at. They come from records and options: what is none is refused. */
import { isIP } from "node:net"
import { between, refusal, shown } from "../runtime/input/options.ts"

/** Where a worker can be asked; undefined for what is no such address. Credentials in it are of no use here. */
export function addressOf(text: string): URL | undefined {
  if (text.length > LONGEST_ADDRESS || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined
  url.search = ""
  url.hash = ""
  return url
}

/** As browsers allow addresses to be. In characters. */
const LONGEST_ADDRESS = 2000

/** Whether an address is of this machine, whatever names resolve to. */
export function isOfThisMachine({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[|\]$/g, ""))
}

/** Whether a host is reached from this machine alone. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."))

/** An option: an IP address of this machine. Throws InvalidConfigError. */
export const aHost = (name: string, value: unknown): void => {
  if (typeof value === "string" && (isIP(value) !== 0 || value === "localhost")) return
  throw refusal(
    `${name} is ${shown(value)}`,
    "Give an IP address of this machine to listen at, such as 127.0.0.1 or 0.0.0.0",
  )
}

/** An option: a port. Throws InvalidConfigError. */
export const aPort = (name: string, value: unknown): void => {
  between(0, 65_535)(name, value)
  if (!Number.isInteger(value)) throw refusal(`${name} is ${shown(value)}`, "Give a whole number")
}
