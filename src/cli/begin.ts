/** The command in this process. */
import { homedir } from "node:os"
import { processIo } from "./io.ts"
import { main } from "./main.ts"
import type { Ending } from "./syntax.ts"

/** Runs it with the words after its name. */
export const begin = (words: readonly string[]): Promise<Ending> => main(words, processIo(homedir))
