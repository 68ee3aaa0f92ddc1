/**
 * The variables of this process's environment, as the GCS store reads them: one that is empty counts as unset, as for
 * curl. So does one that Deno wasn't allowed to read, which was not meant for this process.
 */
import process from "node:process"

/** The first of these variables that has a value, with its name. */
export function firstVariable(
  ...names: readonly string[]
): { readonly name: string; readonly value: string } | undefined {
  for (const name of names) {
    const value = valueOf(name)
    if (value !== "") return { name, value }
  }
  return undefined
}

function valueOf(name: string): string {
  try {
    return process.env[name] ?? ""
  } catch (error) {
    if ((error as Error).name === "NotCapable") return ""
    throw error
  }
}
