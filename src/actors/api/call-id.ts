/** What the id of a durable call can be: it crosses in headers and stands in saved state. */
export const CALL_ID: RegExp = /^[\w.:-]{1,128}$/
