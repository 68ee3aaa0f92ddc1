/** What lines say, in whole words: traces have signs where a page has room. Pure. */
import { lineText } from "../../../trace/line-text.ts"
import type { TraceLine } from "../../../trace/trace.ts"
import { visible } from "../../live/visible.ts"

/** In characters: a line of a list is read at a glance. */
const LONGEST = 240

const SIGNS: Readonly<Record<string, string>> = { "(": "begins", ")": "ended", "!": "failed" }

/** `restore begins` for `restore (`. */
export const spoken = (text: string): string =>
  visible(
    text.replace(
      /^(restore|run|turn|use|checkpoint|close|migrate|schema) ([()!])/,
      (_, work: string, sign: string) => `${work} ${SIGNS[sign]}`,
    ),
    LONGEST,
  )

/** A line in words. */
export const lineWords = (line: TraceLine): string => spoken(lineText(line))
