/**
 * Text of others, made safe for people to read: it can neither steer a terminal nor look like another line. Records,
 * answers and the names of files may be written by anything that may write to the store.
 */

/** The text with a question mark for each invisible character: controls, escapes, line ends, marks of direction. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, "?")
