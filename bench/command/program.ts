/** A program with its arguments. */
export type Program = readonly [string, ...string[]]
