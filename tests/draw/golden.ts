/**
 * Golden files: what is drawn is what was committed, byte for byte. `UPDATE_GOLDEN=1` writes them anew: look at them
 * then.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

/** The text of the golden file; written first where that is asked for. */
export function golden(name: string, text: string): string {
  const path = fileURLToPath(new URL(`golden/${name}`, import.meta.url))
  if (process.env["UPDATE_GOLDEN"] === "1") {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return existsSync(path) ? readFileSync(path, "utf8") : ""
}
