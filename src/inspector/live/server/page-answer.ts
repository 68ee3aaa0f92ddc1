/**
 * The page as an answer: its headers let it load nothing, run nothing but what it is made of, and be framed by nobody.
 */
import { pagePolicy } from "./page-html.ts"

/** On every answer: nothing is guessed, kept, told to others, or read by pages of other origins. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
}

/** The page's own policy, which a recorded trace in it doesn't change: data is never run. Nobody may frame it. */
const POLICY = `${pagePolicy}; frame-ancestors 'none'`

/** The page, or the page with a trace in it. */
export function pageAnswer(html: string): Response {
  return new Response(html, {
    headers: { ...SAFE_HEADERS, "content-type": "text/html; charset=utf-8", "content-security-policy": POLICY },
  })
}
