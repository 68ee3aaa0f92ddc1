// Pins that every published entry point resolves to the sources during development, never to a stale `dist`.
import { describe, expect, it } from "vitest"
import manifest from "../../package.json" with { type: "json" }

const entries = Object.entries(manifest.exports).filter(([name]) => name !== "./package.json")

describe("the published entry points", () => {
  it("are the four that the design names", () => {
    expect(entries.map(([name]) => name)).toEqual([".", "./gcs", "./file", "./testing"])
  })

  it.each(entries)("%s resolves to its source file", (name, targets) => {
    const specifier = `leasehold${name.slice(1)}`
    const source = (targets as Record<string, string>)["leasehold-source"]
    expect(import.meta.resolve(specifier)).toBe(new URL(`../../${source}`, import.meta.url).href)
  })
})
