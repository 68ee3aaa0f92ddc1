/**
 * Text of others in what people read: it may neither steer their terminal nor look like another line. What records, answers
 * and the names of files say comes from whoever may write to the store.
 */

/** With a question mark for every character that isn't there to be seen: controls, escapes, line ends, marks of direction. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, "?")
