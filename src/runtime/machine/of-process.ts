/**
 * What is one in a process, however many copies of leasehold it has loaded: two releases of it, or one as sources and
 * as built. They meet at the process itself, by a name.
 *
 * Not promised: anything across threads, which each have a process object. Copies may be of different releases: what is
 * kept under a name never changes its meaning, or gets another name.
 */
import process from "node:process"

/** What is kept under the name, made where it isn't there yet. */
export function ofProcess<A extends object>(name: string, make: () => A): A {
  const kept = process as unknown as Record<symbol, A | undefined>
  return (kept[Symbol.for(`leasehold ${name}`)] ??= make())
}
