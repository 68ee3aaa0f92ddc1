/** The searches that are made of leasehold itself, by name: `npm run checker` runs them. */
import type { CheckOptions } from "./mod.ts"

/** What is searched. */
export interface CheckConfiguration {
  /**
   * What may happen, at most, beside what always may: each process wants the key, a waiter is granted it, time goes on.
   */
  readonly why: string
  readonly options: CheckOptions
}

const faults: CheckOptions = { crashes: 1, losses: 1, delays: 1, cancels: 1 }

/** With a head, so that the record may go at any time. */
const deleted: CheckOptions = { deletions: 1, delays: 1, commits: 1 }

/** The record goes under owners of different ttls whose dates are 1 s apart, beside all that may befall an acquire. */
const mixed: CheckOptions = {
  ...{ deletions: 1, cancels: 1, crashes: 1, delays: 1, commits: 1 },
  ...{ otherTtl: "12 s", clockError: { dates: "1 s" } },
}

/** So that a process that waits a ttl out is seen at work after it. */
const dated: CheckOptions = { ...deleted, releases: 1, together: 2, clockError: { dates: "1 s" }, until: 9500 }

const bucket: CheckOptions = { clock: "coarse", writeSpacing: 1000, commits: 1, delays: 1 }

const strange: CheckOptions = { strangers: 2, pauses: 1, together: 2, until: 14_000 }

const strangeAfter: CheckOptions = {
  ...{ strangers: 2, deletions: 1, crashes: 1, commits: 1 },
  ...{ clockError: { dates: "1 s" }, until: 7100 },
}

/** Complete in CI, within two minutes each. */
export const configurations: Readonly<Record<string, CheckConfiguration>> = {
  together: {
    why: "a crash, a loss, a late message and a cancel, any three of them in one run, until the lease of who died is taken over; a handoff; each owner claims, also after a grant, and commits",
    options: { ...faults, commits: 1, together: 3, until: 7100, afterGrant: "claim" },
  },
  "all at once": {
    why: "the same with all four in one run, before any lease is taken over; each owner claims, also after a grant",
    options: { ...faults, commits: 1, afterGrant: "claim", until: 3100 },
  },
  pairs: {
    why: "any two of these four, or of a release that nobody asked for, until well after a takeover; a handoff, whose claim is spared; a commit by each owner",
    options: { ...faults, releases: 1, commits: 1, together: 2, until: 9500 },
  },
  granted: {
    why: "any one of these five, or a doubled write, where each owner claims, also after a grant; a commit by each",
    options: { ...faults, releases: 1, duplicates: 1, commits: 1, together: 1, until: 9500, afterGrant: "claim" },
  },
  three: {
    why: "three processes: one crash, loss, late message, stop, cancel or release; a commit by each owner",
    options: { ...faults, releases: 1, processes: 3, pauses: 1, commits: 1, together: 1, until: 8500 },
  },
  "in turn": {
    why: "three processes that want the key three times, and stand in line for it: nobody has it twice while another waits",
    options: { processes: 3, attempts: 3, contention: "retry", until: 6100 },
  },
  doubled: {
    why: "two writes, of the record or the head, that come twice, the second time at any moment, a crash, a cancel; a commit by each owner",
    options: { duplicates: 2, crashes: 1, cancels: 1, commits: 1, until: 9500 },
  },
  stopped: {
    why: "a stop and a suspend, at any moment and for any time, and a late message",
    options: { pauses: 1, suspends: 1, delays: 1, together: 2, until: 8000 },
  },
  "stopped beside a head": {
    why: "a stop, a crash, a loss and a late message, any two of them in one run; each owner claims, also after a grant, and commits",
    options: {
      ...{ pauses: 1, crashes: 1, losses: 1, delays: 1 },
      ...{ commits: 1, afterGrant: "claim", together: 2, until: 8000 },
    },
  },
  strangers: {
    why: "two writes of a stranger that keeps what it doesn't know, a stop",
    options: strange,
  },
  stripped: {
    why: "two writes of a stranger that drops what it doesn't know, a stop",
    options: { ...strange, strangersWill: "drop" },
  },
  "strangers beside a head": {
    why: "two writes of a stranger that keeps what it doesn't know, a stop; each owner claims the head, and commits",
    options: { ...strange, commits: 1, afterGrant: "claim" },
  },
  "stripped beside a head": {
    why: "two writes of a stranger that drops what it doesn't know, a stop; each owner claims the head, and commits",
    options: { ...strange, commits: 1, afterGrant: "claim", strangersWill: "drop" },
  },
  clockless: {
    why: "a store without a clock, judged by observation alone: a stop, a suspend, a late message",
    options: { clock: "none", pauses: 1, suspends: 1, delays: 1, together: 1, until: 16_000 },
  },
  bucket: {
    why: "dates in whole seconds, and clients that keep a second between writes (the store refuses none): a stop, a suspend, a late message, a loss; each owner claims, and commits",
    options: { ...bucket, pauses: 1, suspends: 1, losses: 1, together: 1, until: 12_000 },
  },
  spaced: {
    why: "the same with a late message alone, sooner: a commit that comes between two tries of its own",
    options: { ...bucket, until: 6000 },
  },
  calm: {
    why: "nothing: nobody loses the key, and nobody is asked for it twice; a commit by each owner",
    options: { commits: 1 },
  },
  created: {
    why: "no record at first: a crash, a loss, a late message, a stop, a cancel, a release; a commit by each owner",
    options: { ...faults, releases: 1, record: "absent", pauses: 1, commits: 1, together: 1, until: 14_000 },
  },
  alone: {
    why: "one process that wants the key twice, with a ttl of 30 s: a release, a loss, a stop; what it left behind is not its own",
    options: { processes: 1, attempts: 2, ttl: "30 s", releases: 1, losses: 1, pauses: 1, until: 20_000 },
  },
  "left again": {
    why: "an owner leaves, is stopped for so long that nobody can tell what became of it, and leaves again; a late message, which may be what it left by first",
    options: { releases: 2, pauses: 1, delays: 1, until: 13_000 },
  },
  unresolved: {
    why: "a late message; a commit by each owner, who tries it for a second and may leave while it is under way",
    options: { commits: 1, delays: 1, commitWithin: 1000, until: 8000 },
  },
  twins: {
    why: "two processes that have one incarnation: a crash, a loss, a late message, a stop, a cancel or a release, any two of them; a commit by each owner",
    options: { ...faults, incarnations: "one", pauses: 1, releases: 1, commits: 1, together: 2, until: 9000 },
  },
  "twins beside strangers": {
    why: "the same beside a stranger that drops what it doesn't know and writes twice: a stop, or a cancel, until a stranger's lease is over",
    options: { ...strange, incarnations: "one", strangersWill: "drop", cancels: 1, until: 14_000 },
  },
  clocks: {
    why: "a ttl of 12 s, dates 1 s apart, the owner's clock 2.5 % slow and the others' as fast: a stop, under the guard in use",
    options: { ttl: "12 s", clockError: { dates: "1 s", drift: 0.025 }, pauses: 1, until: 16_000 },
  },
  deleted: {
    why: "a release; the record of a lock is deleted by hand once all who look at it saw its owner",
    options: { releases: 1, deletions: 1 },
  },
  "deleted before a claim": {
    why: "dates 1 s apart, a record with a history: a release, a late message, a commit; the record is deleted by hand at any time",
    options: dated,
  },
  "deleted under a head": {
    why: "the same with no record at first",
    options: { ...dated, record: "absent" },
  },
  "brought back": {
    why: "one clock, no record at first: a crash, a late message, a commit; the record is deleted by hand at any time, and a create that is under way then brings back what was before",
    options: { ...deleted, crashes: 1, together: 3, record: "absent", until: 7100 },
  },
  "brought back twice": {
    why: "the same with a doubled write, and a stop, in place of the crash and the late message",
    options: { deletions: 1, duplicates: 1, pauses: 1, commits: 1, record: "absent", until: 9500 },
  },
  "given up after a deletion": {
    why: "dates 1 s apart: the record is deleted by hand at any time, an acquire is cancelled, and what it sent may be late; a commit by each owner",
    options: { ...deleted, cancels: 1, clockError: { dates: "1 s" }, until: 7500 },
  },
  "deleted twice": {
    why: "no record at first: the record is deleted by hand twice, at any time, and a late message; a commit by each owner",
    options: { ...deleted, deletions: 2, record: "absent", until: 9500 },
  },
  "brought back under another": {
    why: "the others' ttl is 12 s, no record at first: the record is deleted by hand twice, a doubled write, and a stop; a commit by each owner",
    options: { deletions: 2, duplicates: 1, pauses: 1, commits: 1, otherTtl: "12 s", record: "absent", until: 8000 },
  },
  "deleted under a longer ttl": {
    why: "dates 1 s apart, the others' ttl is 12 s: the record is deleted by hand at any time, a crash, and a stop; a commit by each owner",
    options: {
      ...{ deletions: 1, crashes: 1, pauses: 1, commits: 1 },
      ...{ otherTtl: "12 s", clockError: { dates: "1 s" }, until: 9000 },
    },
  },
  "deleted among three": {
    why: "three processes, dates 1 s apart: the record is deleted by hand at any time, and a cancel or a stop; a commit by each owner",
    options: {
      ...{ processes: 3, deletions: 1, cancels: 1, pauses: 1, commits: 1, together: 2 },
      ...{ clockError: { dates: "1 s" }, until: 7000 },
    },
  },
  "deleted among three that die": {
    why: "three processes, dates 1 s apart: the record is deleted by hand at any time, a crash and a late message, any two of them; a commit by each owner",
    options: {
      ...{ ...deleted, processes: 3, crashes: 1, together: 2 },
      ...{ clockError: { dates: "1 s" }, until: 6500 },
    },
  },
  "deleted beside all": {
    why: "dates 1 s apart, the others' ttl is 12 s: the record is deleted by hand at any time, a cancel, a crash and a late message, any three of them; a commit by each owner",
    options: { ...mixed, together: 3, until: 6500 },
  },
  "deleted beside all, longer": {
    why: "the same with any two of them, until whoever waits is seen at work",
    options: { ...mixed, together: 2, until: 9000 },
  },
  "strangers after a deletion": {
    why: "dates 1 s apart: the record is deleted by hand at any time, and a stranger that keeps what it doesn't know writes twice, a crash; a commit by each owner",
    options: strangeAfter,
  },
  "stripped after a deletion": {
    why: "the same without a crash, with a stranger that drops what it doesn't know",
    options: { ...strangeAfter, crashes: 0, strangersWill: "drop" },
  },
}

/** Too large for CI: `npm run checker -- --large` runs them. */
export const larger: Readonly<Record<string, CheckConfiguration>> = {
  "all at once, longer": {
    why: "a crash, a loss, a late message and a cancel, all four in one run, until the lease of who died is taken over; a commit by each owner",
    options: { ...faults, commits: 1, until: 7100, limit: 4_000_000 },
  },
  "deleted among three, beside all": {
    why: "three processes, dates 1 s apart, the others' ttl is 12 s: the record is deleted by hand at any time, a cancel, a crash and a late message, any two of them; a commit by each owner",
    options: { ...mixed, processes: 3, together: 2, until: 6100, limit: 4_000_000 },
  },
  "three together": {
    why: "three processes: a crash, a loss, a late message and a cancel, any two of them in one run; a commit by each owner",
    options: { ...faults, processes: 3, commits: 1, together: 2, until: 5000 },
  },
}

/** What the least guard is looked for with: clocks as wrong as is assumed, and a process that is stopped. */
export const guardSearch: CheckConfiguration = {
  why: "the same clocks as in `clocks`, under the least guard; the time is that of looking for it, all searches with other guards included",
  options: configurations["clocks"]!.options,
}
