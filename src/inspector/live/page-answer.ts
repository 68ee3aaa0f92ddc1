/** The page as an answer: its headers let it load nothing, run nothing but what it is made of, and be framed by nobody. */
import { createHash } from "node:crypto"

/** On every answer: nothing is guessed, kept, told to others, or read by pages of other origins. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
}

/** A page that is made of one file. */
export function pageAnswer(html: string): Response {
  return new Response(html, {
    headers: { ...SAFE_HEADERS, "content-type": "text/html; charset=utf-8", "content-security-policy": policyOf(html) },
  })
}

/** Only the scripts and styles that stand in it, by their hashes; data blocks aren't run. */
export function policyOf(html: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashes(html, /<script(?: type="module")?>([\s\S]*?)<\/script>/g)}`,
    `style-src ${hashes(html, /<style>([\s\S]*?)<\/style>/g)}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ")
}

function hashes(html: string, element: RegExp): string {
  const all = Array.from(html.matchAll(element), ([, text = ""]) => {
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`
  })
  return all.length === 0 ? "'none'" : all.join(" ")
}
