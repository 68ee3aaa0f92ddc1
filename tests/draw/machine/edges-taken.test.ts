// Pins which transitions a change of state is put down to, and that a whole run is counted that way.
import { describe, expect, it } from "vitest"
import { createActor, createMachine } from "xstate"
import { sandboxChart } from "../../../src/actors/chart/chart.ts"
import { chartEdges, EdgeCounter, type EdgesTaken, edgesTaken } from "../../../src/draw/mod.ts"
import { InvalidConfigError } from "../../../src/runtime/errors.ts"
import checkout from "../machines/checkout.ts"
import eventless from "../machines/eventless.ts"
import mediaPlayer from "../machines/media-player.ts"
import textEditor from "../machines/text-editor.ts"

const on = (playback: string | object, display = "bright") => ({ on: { playback, display } }) as never

const step = (...taken: string[]): EdgesTaken => ({ taken, ambiguous: [], from: "step" })
const oneOf = (...ambiguous: string[]): EdgesTaken => ({ taken: [], ambiguous, from: "step" })

describe("the way from one state to another", () => {
  // Tests drawings: A change of state is put down to its transition; where several do alike, to none alone.
  it("is the one transition that leads there", () => {
    const paused = edgesTaken(mediaPlayer, on({ playing: "fast" }), on("paused"))
    expect(paused).toEqual(step("on.playback.playing--pause[0]"))
  })

  it("goes on through transitions without an event, and out of what is done", () => {
    expect(edgesTaken(eventless, "measuring", "cooling")).toEqual(
      step("measuring--measure[0]", "deciding--(always)[1]"),
    )
    expect(edgesTaken(checkout, { cart: "reserving" }, "paying")).toEqual(
      step("cart.reserving--(done reserve)[0]", "cart--(done)[0]"),
    )
  })

  it("is one of several where they lead there alike", () => {
    expect(edgesTaken(mediaPlayer, on("paused"), "off")).toEqual(oneOf("--power.off[0]", "on--power[0]"))
    expect(edgesTaken(mediaPlayer, on("paused"), "off", "power")).toEqual(step("on--power[0]"))
  })

  it("goes through a history state to wherever it leads", () => {
    expect(edgesTaken(mediaPlayer, "off", on({ playing: "fast" }, "dimmed"))).toEqual(step("off--resume[0]"))
    expect(edgesTaken(mediaPlayer, on("paused"), on({ playing: "fast" }))).toEqual(step("on.playback.paused--play[0]"))
  })

  it("goes to several states at once, and in several regions by one event", () => {
    const style = (bold: string, italics: string, list: string) => ({ bold, italics, list })
    const strong = edgesTaken(textEditor, style("off", "off", "none"), style("on", "on", "none"))
    expect(strong).toEqual(step("--style.strong[0]"))
    const both = createMachine({
      type: "parallel",
      states: {
        a: { initial: "x", states: { x: { on: { go: "y" } }, y: {} } },
        b: { initial: "x", states: { x: { on: { go: "y" } }, y: {} } },
      },
    })
    expect(edgesTaken(both, { a: "x", b: "x" }, { a: "y", b: "y" })).toEqual(step("a.x--go[0]", "b.x--go[0]"))
  })

  it("is not seen where the state is the same, unless the event is known", () => {
    expect(edgesTaken(eventless, "measuring", "measuring")).toEqual(step())
    expect(edgesTaken(eventless, "measuring", "measuring", "again")).toEqual(step("measuring--again[0]"))
    expect(edgesTaken(textEditor, edges(textEditor), edges(textEditor), "key.enter").ambiguous).toEqual([
      "--key.*[0]",
      "--key.*[1]",
      "--*[0]",
    ])
  })

  it("begins anew where no transition leads there, and is none where the machine can't begin there", () => {
    expect(edgesTaken(sandboxChart, { released: "clean" }, { acquiring: "trying" })).toEqual({
      ...{ taken: ["acquiring.beginning--(always)[0]"], ambiguous: [], from: "start" },
    })
    expect(edgesTaken(sandboxChart, undefined, { acquiring: "backingOff" })).toEqual({
      ...{ taken: ["acquiring.beginning--(always)[1]"], ambiguous: [], from: "start" },
    })
    expect(edgesTaken(eventless, "broken", "idle")).toEqual({ taken: [], ambiguous: [], from: "none" })
  })

  it("is refused for states that the machine hasn't", () => {
    expect(() => edgesTaken(eventless, "nowhere", "idle")).toThrow(InvalidConfigError)
    expect(() => edgesTaken(eventless, "idle", { idle: "deep" })).toThrow(InvalidConfigError)
  })
})

/** The first state of a machine. */
const edges = (machine: typeof textEditor) => createActor(machine).getSnapshot().value

describe("a whole run", () => {
  // Tests drawings.
  it("is counted as it was walked, whichever way that was", () => {
    const counter = new EdgeCounter(mediaPlayer)
    const actor = createActor(mediaPlayer)
    const walked = [undefined, "power", "play", "fast", "pause", "play", "stop", "power", "resume"].map((event) => {
      if (event === undefined) actor.start()
      else actor.send({ type: event })
      return counter.saw("one", actor.getSnapshot().value)
    })
    actor.stop()
    expect(walked.map(({ from }) => from)).toEqual(["start", ...Array.from({ length: 8 }, () => "step")])
    const { counts, shared, starts, unexplained } = counter.result()
    expect({ starts, unexplained }).toEqual({ starts: 1, unexplained: 0 })
    expect(counts).toEqual({
      "on.playback.stopped--play[0]": 1,
      "on.playback.playing.normal--fast[0]": 1,
      "on.playback.playing--pause[0]": 1,
      "on.playback.paused--play[0]": 1,
    })
    // By the state alone some look alike: `factory.reset` leads to `stopped` too, and so does `resume` from `off`.
    expect(shared).toEqual([
      { edges: ["--factory.reset[0]", "off--power[0]", "off--resume[0]"], times: 2 },
      { edges: ["--factory.reset[0]", "on.playback.playing--stop[0]"], times: 1 },
      { edges: ["--power.off[0]", "on--power[0]"], times: 1 },
    ])
  })

  it("keeps actors apart, and counts many at once", () => {
    const counter = new EdgeCounter(eventless)
    counter.saw("one", "measuring")
    counter.saw("two", "measuring")
    counter.saw("one", "heating")
    counter.passed("heating", "idle", 5)
    counter.saw("two", "broken")
    counter.saw("two", "idle")
    expect(counter.result()).toEqual({
      counts: {
        "measuring--measure[0]": 2,
        "deciding--(always)[0]": 1,
        "deciding--(always)[2]": 1,
        "heating--(always)[0]": 5,
      },
      ...{ shared: [], starts: 2, unexplained: 1 },
    })
  })

  it("names only transitions that the machine has", () => {
    const ids = new Set(chartEdges(sandboxChart).map(({ id }) => id))
    const counter = new EdgeCounter(sandboxChart)
    counter.saw("k", { acquiring: "trying" })
    counter.saw("k", { owning: { lease: "healthy", work: "restoring" } })
    counter.saw("k", { owning: { lease: "degraded", work: "running" } })
    counter.saw("k", { handingOff: { lease: "degraded", work: "settling" } })
    const { counts, shared } = counter.result()
    const named = [...Object.keys(counts), ...shared.flatMap((group) => group.edges)]
    expect(named.filter((id) => !ids.has(id))).toEqual([])
    expect(named.length).toBeGreaterThan(3)
  })
})
