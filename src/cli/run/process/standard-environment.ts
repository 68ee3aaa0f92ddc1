/**
 * What the shells beside a command are given of an environment: where programs are, and nothing that the caller made
 * for the command. What a caller's PATH, functions or locale make of `sleep` is not for them.
 */
import process from "node:process"

/** The system's places first; the caller's after them, for systems that keep their programs elsewhere. */
export function standardEnvironment(): { readonly PATH: string } {
  const places = "/usr/bin:/bin:/usr/sbin:/sbin"
  const { PATH: theirs } = { ...process.env } // as io.ts has it
  return { PATH: theirs === undefined || theirs === "" ? places : `${places}:${theirs}` }
}
