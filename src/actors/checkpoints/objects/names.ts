/**
 * Where the saved state of a sandbox lies: one head and its content objects, all in area `state` under the encoded lock
 * key. Owns the names only. Content names are never used twice, so that a late write or delete of one can't meet
 * another.
 */
import { encodeName } from "../../../locks/api/keys.ts"
import type { ObjectRef } from "../../../locks/stores/port.ts"

const HEAD = "/head"
const contentSyntax = /^(\d{1,16})-\d{1,16}-[a-z0-9_-]{1,64}$/

/** The head of a sandbox. */
export function headRef(lockKey: string): ObjectRef {
  return { area: "state", name: `${encodeName(lockKey)}${HEAD}` }
}

/** A content object of a sandbox; `content` as its head names it. */
export function contentRef(lockKey: string, content: string): ObjectRef {
  return { area: "state", name: contentPrefix(lockKey) + content }
}

/** What the names of all objects of a sandbox begin with. */
export function contentPrefix(lockKey: string): string {
  return `${encodeName(lockKey)}/`
}

/** A fresh content name. Lower case, so that it is one name on every file system. */
export function contentName(token: number, seq: number, id: string): string {
  return `${token}-${seq}-${id.toLowerCase()}`
}

/** The fencing token in a content name; undefined for what isn't one. */
export function contentToken(content: string): number | undefined {
  const token = contentSyntax.exec(content)?.[1]
  return token === undefined ? undefined : Number(token)
}

/** The encoded lock key of a head's object name; undefined for other objects. */
export function headOwnerName(objectName: string): string | undefined {
  return objectName.endsWith(HEAD) ? objectName.slice(0, -HEAD.length) : undefined
}
