// Pins that the page which is committed is the one that its sources make: `npm run page` writes it.
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { pageAnswer } from "../../../src/inspector/live/server/page-answer.ts"
import { pageHtml, pagePolicy } from "../../../src/inspector/live/server/page-html.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

describe("the page", () => {
  // Tests inspector: The page that is served and put into traces is the one that its sources make.
  it("is what its sources make: else run `npm run page`, and commit what it writes", () => {
    const node = `${root}/node_modules/.bin/node`
    const program = `const { pageModule } = await import("./scripts/page.ts"); process.stdout.write(await pageModule())`
    const made = execFileSync(node, ["--conditions=leasehold-source", "--input-type=module", "-e", program], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 2 ** 24,
    })
    const committed = readFileSync(`${root}/src/inspector/live/server/page-html.ts`, "utf8")
    const digest = (text: string): string => createHash("sha256").update(text).digest("hex")
    expect(digest(made)).toBe(digest(committed))
  })

  // Tests inspector: The page asks only its worker, and runs nothing but itself, whatever others wrote.
  it("has in itself the policy that its server sends, but for who may frame it", () => {
    expect(pageHtml).toContain(`content="${pagePolicy}"`)
    expect(pageAnswer(pageHtml).headers.get("content-security-policy")).toBe(`${pagePolicy}; frame-ancestors 'none'`)
  })

  it("goes with the licences of the libraries in it", () => {
    expect(pageHtml).toContain("lit-html 3.3.3\n\nBSD 3-Clause License")
    expect(pageHtml).toContain("uplot 1.6.32\n\nThe MIT License")
  })
})
