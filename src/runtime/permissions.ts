/**
 * What Deno permits this process, asked without a prompt at the terminal: what leasehold would only like to know must
 * not make Deno ask. On Node all is permitted.
 */

/** One permission, as Deno names it: without `path` or `kind` all of that name. */
export interface Permission {
  readonly name: "read" | "write" | "env" | "run" | "sys"
  readonly path?: string
  readonly kind?: string
}

/** Whether all of them are granted. */
export function isPermitted(...permissions: readonly Permission[]): boolean {
  const { Deno: deno } = globalThis as { Deno?: { permissions: { querySync(descriptor: object): { state: string } } } }
  return permissions.every((each) => deno === undefined || deno.permissions.querySync(each).state === "granted")
}
