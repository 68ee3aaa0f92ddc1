/** What an error tells of, without what is to be done about it. */
import type { LockError } from "../locks/errors.ts"

/** The first of its two sentences, without its full stop. */
export const happened = ({ message, next }: LockError): string => message.slice(0, -`. ${next}.`.length)
