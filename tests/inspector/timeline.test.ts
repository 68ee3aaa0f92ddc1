// Pins the page of a trace: it needs nothing else, shows every worker, state, fault and the violation, and harms nobody.
import { beforeAll, describe, expect, it } from "vitest"
import { timelineHtml } from "../../src/inspector/timeline.ts"
import { fault } from "../testing/invariants/told.ts"
import { recorded, type Recording } from "./scenario.ts"

describe("the timeline of a trace", () => {
  let recording: Recording
  beforeAll(async () => {
    recording = await recorded(7)
  })

  it("is one page that asks for nothing", () => {
    const page = timelineHtml(recording)
    expect(page).toMatch(/^<!doctype html>/)
    expect(page).not.toMatch(/<script|<link|src=|url\(|https?:/)
    expect(page).toContain("<h1>seed 7</h1>")
  })

  it("shows each worker, its states with tokens, its requests and its faults", () => {
    const page = timelineHtml(recording)
    expect(page.match(/class="worker"/g)).toHaveLength(2)
    expect(page).toMatch(/<title>counter\/k owning: running token \d+<\/title>/)
    expect(page).toContain("** pause")
    expect(page).toContain('class="request sure"')
    expect(page.match(/class="fault"/g)!.length).toBeGreaterThanOrEqual(3)
  })

  it("marks the violation, and opens at the lines around it", () => {
    const violation = { at: recording.lines[40]!.at, message: "two <owners> & more" }
    const page = timelineHtml(recording, { title: "broken", violation })
    expect(page).toContain('<p class="violation" role="alert">two &lt;owners&gt; &amp; more</p>')
    expect(page).toContain('class="mark"')
    expect(page).toContain("<details open>")
    expect(timelineHtml(recording)).not.toContain('class="mark"')
  })

  it("shows what it is given as text, whatever that is", () => {
    const lines = [fault(0, "<b>", `"><script>alert(1)</script>`), fault(5, null, "outage")]
    const page = timelineHtml({ header: recording.header, lines }, { title: "</title><script>" })
    expect(page).not.toContain("<script>")
    expect(page).toContain("&lt;b&gt;")
  })

  it("is there for an empty trace", () => {
    expect(timelineHtml({ header: recording.header, lines: [] })).toContain("0 lines")
  })
})
