/**
 * The base of every error of leasehold, and the one that each floor raises: bad input. The others are in
 * locks/api/errors.ts. Owns no behaviour: who raises what and when is decided elsewhere.
 */

/** Who owns a key, as far as the record tells. */
export interface Owner {
  /** The owner's incarnation, as published in the record. */
  readonly ownerId: string
  /** Where the owner can be reached, if it said so. */
  readonly address?: string
  /** The name of its machine, on stores whose records tell processes (files). */
  readonly host?: string
  /** Its process on that machine, likewise. */
  readonly pid?: number
  /** Since when it owns the key, in Unix milliseconds of the store's time, likewise. */
  readonly since?: number
  /** The fencing token; 0 where the owner is a stranger that publishes none. */
  readonly token: number
  /** When its lease ends, in Unix milliseconds of the store's time. */
  readonly expiresAt: number
  /** The process that waits for the key, if one does. */
  readonly waiterId?: string
  /** The version of the sandbox definition that the owner runs, if it said so. */
  readonly checkpointVersion?: number
}

/** What every error can carry. */
export interface ErrorDetails {
  /** What happened, as a sentence without its full stop. */
  readonly message: string
  /** What to do about it, as a sentence without its full stop. */
  readonly next: string
  /** The key it is about. */
  readonly key?: string | undefined
  /** The key's owner at that time. */
  readonly owner?: Owner | undefined
  /** The error behind it, of a store or a hook. */
  readonly cause?: unknown
}

/** The base of all errors of leasehold. */
export abstract class LockError extends Error {
  /** The class's name; Effect's `catchTag` matches on it. */
  abstract readonly _tag: string
  /** Stable across releases; see docs/errors.md. */
  abstract readonly code: string
  /** Whether the same call may succeed later, nothing else changed. */
  abstract readonly retryable: boolean
  /** The key it is about; empty where it is about none. */
  readonly key: string
  /** The owner at that time, where known. */
  readonly owner?: Owner
  /** What to do next. */
  readonly next: string

  constructor(details: ErrorDetails) {
    super(`${details.message}. ${details.next}.`, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = new.target.name
    this.key = details.key ?? ""
    this.next = details.next
    if (details.owner !== undefined) this.owner = details.owner
  }
}

/** An option has a value that can't work, alone or beside another. */
export class InvalidConfigError extends LockError {
  readonly _tag = "InvalidConfigError" as const
  readonly code = "LEASEHOLD_CONFIG" as const
  readonly retryable = false as const
}
