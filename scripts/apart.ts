/**
 * Work that a script gives to processes of its own: each runs the script again with `--worker`, takes items by its
 * standard input, one a line, and answers each with a line of JSON.
 */
import { spawn } from "node:child_process"
import process from "node:process"
import { createInterface } from "node:readline"

/** Who works, and on what. */
export interface Apart<Answer> {
  /** The program's words, from the script's path on. */
  readonly words: readonly string[]
  /** What is left to give; emptied as it is given. */
  readonly left: string[]
  /** How many at a time. */
  readonly jobs: number
  readonly note: (answer: Answer) => void
}

/** Gives items to workers, one at a time, so that none waits for another. */
export async function runApart<Answer>(apart: Apart<Answer>): Promise<void> {
  await Promise.all(Array.from({ length: Math.min(apart.jobs, apart.left.length) }, () => runWorker(apart)))
}

async function runWorker<Answer>({ words, left, note }: Apart<Answer>): Promise<void> {
  const child = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] })
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
  const give = (): void => {
    const item = left.shift()
    if (item === undefined) child.stdin.end()
    else child.stdin.write(`${item}\n`)
  }
  give()
  for await (const line of createInterface({ input: child.stdout })) {
    note(JSON.parse(line) as Answer)
    give()
  }
  const code = await ended
  if (code !== 0) throw new Error(`a worker ended with the exit code ${code}`)
}

/** A number of a command line, `least` or more; ends the process with 2 where it is none. */
export function wholeOf(text: string, least = 0): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= least && text !== "") return number
  console.error(`${JSON.stringify(text)} is no whole number of ${least} or more`)
  process.exit(2)
}
