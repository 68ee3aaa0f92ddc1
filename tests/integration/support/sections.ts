/**
 * What the logs of processes that shared a lock say of its sections: whether two were ever in one at once. In each a
 * process counts on twice in a file that all share, so the counts are the order of events, without any clock.
 */

/** Who was in the lock, and what it counted there. One that was killed in it may have counted less. */
export interface Section {
  readonly process: string
  readonly token: number
  readonly counts: readonly number[]
}

/** A process's log. */
export interface Log {
  readonly process: string
  readonly text: string
}

/** The sections of a log. A line that was cut off by a kill was not written. */
export function sectionsOf({ process, text }: Log): Section[] {
  const sections: { process: string; token: number; counts: number[] }[] = []
  for (const line of text.slice(0, text.lastIndexOf("\n") + 1).split("\n")) {
    const [word, number] = line.split(" ")
    if (word === "enter") sections.push({ process, token: Number(number), counts: [] })
    if (word === "count") sections.at(-1)?.counts.push(Number(number))
  }
  return sections
}

/** Each pair of sections that another came between, or that counted the same, and tokens that don't grow. */
export function overlaps(sections: readonly Section[]): string[] {
  const counted = sections.filter(({ counts }) => counts.length > 0)
  const sorted = counted.toSorted((a, b) => a.counts[0]! - b.counts[0]! || a.token - b.token)
  return sorted.slice(1).flatMap((section, index) => {
    const before = sorted[index]!
    const names = `${before.process} (${before.token}) and ${section.process} (${section.token})`
    const problems: string[] = []
    if (section.counts[0]! <= before.counts.at(-1)!) problems.push(`${names} were in it at once`)
    if (section.token <= before.token) problems.push(`${names} have tokens out of order`)
    return problems
  })
}
