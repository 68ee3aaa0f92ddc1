/** The shape of a case before it is given a store: files of cases export these. */
import type { Subject, SuiteSettings } from "./subject.ts"

export interface Trial {
  /** A sentence whose subject is the store. */
  readonly name: string
  /** What the contract asks, as a sentence without its full stop. */
  readonly asks: string
  /** Whether it belongs to a suite of these settings; default: always. */
  readonly when?: (settings: SuiteSettings) => boolean
  /** Not started beforehand. */
  readonly raw?: true
  /** Throws ConformanceError, by the subject. */
  readonly run: (subject: Subject) => Promise<void>
}
