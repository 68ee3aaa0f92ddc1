/** The secret that all workers of a fleet know: where it is, and what it has to be. It is told in no error. */
import process from "node:process"
import { refusal, shown } from "../runtime/input/options.ts"
import { isPermitted } from "../runtime/permissions.ts"

/** The variable that has the secret. */
export const SECRET_VARIABLE = "LEASEHOLD_SECRET"

/** As docs/seeing-it.md draws one. */
export const DRAWN = `node -p 'crypto.randomBytes(24).toString("base64")'`

/** 96 bits, where it is drawn from the 64 signs of base64. */
const SHORTEST_SECRET = 16

/** A secret may not be told in an error: only how long it is. */
export const aSecret = (name: string, value: unknown): void => {
  if (typeof value === "string" && value.length >= SHORTEST_SECRET && /^[!-~]+$/.test(value)) return
  const is = typeof value === "string" ? `a text of ${value.length} characters` : shown(value)
  throw refusal(
    `${name} is ${is}`,
    `Give at least ${SHORTEST_SECRET} visible ASCII characters, drawn at random: ${DRAWN}`,
  )
}

/**
 * What the environment has; a bad one is an error, as a worker that is seen alone for a typing error would surprise.
 */
export function sharedSecret(): string | undefined {
  if (!isPermitted({ name: "env" })) return undefined
  const secret = process.env[SECRET_VARIABLE]
  if (secret === undefined || secret === "") return undefined
  aSecret(SECRET_VARIABLE, secret)
  return secret
}
