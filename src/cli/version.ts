/** As in package.json, with which a test compares it. */
export const VERSION = "0.1.0"
