// Pins the page of a recorded trace: it is the live page with the trace in it as data, and harms nobody. What it shows
// is tested in a real browser (tests/browser/recorded.test.ts).
import { beforeAll, describe, expect, it } from "vitest"
import { type Recording, RECORDING_ID, RECORDING_PLACE } from "../../src/inspector/live/recording.ts"
import { pageHtml } from "../../src/inspector/live/server/page-html.ts"
import { timelineHtml } from "../../src/inspector/timeline.ts"
import { fault } from "../testing/invariants/told.ts"
import { recorded, type Recording as Recorded } from "./scenario.ts"

const element = new RegExp(`<script type="application/json" id="${RECORDING_ID}">([^<]*)</script>`)

function recordingIn(page: string): Recording {
  const [, json] = element.exec(page) ?? []
  return JSON.parse(json ?? "null") as Recording
}

describe("the page of a recorded trace", () => {
  let recording: Recorded
  beforeAll(async () => {
    recording = await recorded(7)
  })

  it("is the live page with the trace in it, and nothing else", () => {
    const page = timelineHtml(recording)
    expect(page).toMatch(/^<!doctype html>/)
    expect(page.replace(element, RECORDING_PLACE)).toBe(pageHtml)
    expect(recordingIn(page)).toEqual({ title: "seed 7", violation: null, ...recording })
  })

  // Tests inspector: The page asks only its worker, and runs nothing but itself, whatever others wrote.
  it("asks for nothing, and may run nothing but itself", () => {
    expect(pageHtml).not.toMatch(/<link(?! rel="icon" href="data:)|\ssrc=|url\(["']?https?:|@import/)
    expect(pageHtml).toMatch(
      /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-/,
    )
    expect(pageHtml).not.toMatch(/unsafe-inline|unsafe-eval|\son\w+="/)
  })

  it("has its heading, the commit and what went wrong", () => {
    const violation = { at: recording.lines[40]!.at, message: "two <owners> & more" }
    const header = { ...recording.header, commit: "abc1234" }
    const page = timelineHtml({ ...recording, header }, { title: "broken", violation })
    expect(recordingIn(page)).toMatchObject({ title: "broken, commit abc1234", violation })
    expect(page).not.toContain("<owners>")
  })

  it("keeps what it is given data, whatever that is", () => {
    const lines = [fault(0, "<b>", `"></script><script>alert(1)</script>`), fault(5, null, "<!--outage$&")]
    const page = timelineHtml({ header: recording.header, lines }, { title: "</title><script>$'" })
    expect(page.match(/<script/g)).toHaveLength(2)
    expect(recordingIn(page)).toMatchObject({ title: "</title><script>$'", lines })
  })

  it("is there for an empty trace", () => {
    expect(recordingIn(timelineHtml({ header: recording.header, lines: [] })).lines).toEqual([])
  })
})
