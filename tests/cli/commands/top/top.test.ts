// Pins what `leasehold top` and `leasehold open` say to whoever calls them, and what the screen of `top` shows and
// does.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import type { FeedEvents, TopFeed } from "../../../../src/cli/commands/top/feed.ts"
import { fit, frameOf, type FrameParts, type Paint } from "../../../../src/cli/commands/top/frame.ts"
import { keysOf } from "../../../../src/cli/commands/top/keys.ts"
import { plain } from "../../../../src/cli/commands/top/plain.ts"
import { Rates } from "../../../../src/cli/commands/top/rates.ts"
import { TopView } from "../../../../src/cli/commands/top/view.ts"
import { Output } from "../../../../src/cli/frame/output.ts"
import { columnsOf } from "../../../../src/draw/text/columns.ts"
import { Fleet } from "../../../../src/inspector/live/model/fleet.ts"
import { parseSearch, type Search } from "../../../../src/inspector/live/model/search.ts"
import type { SandboxRow } from "../../../../src/inspector/live/model/wire.ts"
import { VirtualTime } from "../../../../src/runtime/time/virtual-time.ts"
import { formatTrace } from "../../../../src/trace/trace-text.ts"
import type { TraceLine } from "../../../../src/trace/trace.ts"
import { row, running, settling, state, waiting, worker } from "../../../inspector/live/made.ts"
import { recorded, type Recording } from "../../../inspector/scenario.ts"
import { CommandLine } from "../../command-line.ts"

const NOW = 100_000

function feedOf(...rows: readonly SandboxRow[]): TopFeed {
  const fleet = new Fleet()
  fleet.apply("rows", rows)
  fleet.apply("workers", [worker(), worker({ worker: "b", problem: "nobody listens there" })])
  return { name: "http://127.0.0.1:1/", isLive: true, fleet, now: () => NOW, run: async () => {} }
}

const as = (text: string): string => text
const plainPaint: Paint = { ...{ bold: as, dim: as, red: as, yellow: as, green: as }, blue: as, cyan: as, inverse: as }

function frame(view: TopView, feed: TopFeed, more: Partial<FrameParts> = {}): readonly string[] {
  const size = { columns: 100, rows: 24 }
  return frameOf({ feed, view, size, paint: plainPaint, problem: null, rates: new Map(), ...more })
}

const viewOf = (feed: TopFeed, text = ""): TopView => {
  const view = new TopView(feed, text)
  view.refresh()
  return view
}
const press = (view: TopView, text: string): boolean => keysOf(text).some((key) => view.press(key))
const keysShown = (view: TopView): readonly string[] => view.rows.map(({ key }) => key)

describe("leasehold top", () => {
  let recording: Recording
  beforeAll(async () => {
    recording = await recorded(7)
  })
  const at = (command: CommandLine, name: string): string => {
    writeFileSync(join(command.cwd, name), formatTrace(recording))
    return name
  }

  it("tells a recorded trace as one line a change", async () => {
    const command = new CommandLine()
    const { code, out } = await command.run("top", at(command, "run.ndjson"))
    expect(code).toBe(0)
    const lines = out.trimEnd().split("\n")
    const states = recording.lines.filter(({ kind }) => kind === "state")
    expect(lines.filter((line) => / {2}counter\/k {2}\w+: /.test(line) && !line.includes("handoff:"))).toHaveLength(
      states.length,
    )
    expect(lines[1]).toBe("2023-11-14T22:13:20.000Z  a  counter/k  acquiring: trying")
    expect(out).toContain("b  counter/k  handoff: granted from a\n")
    expect(out).toContain("b  -  ** pause\n")
  })

  it("tells as JSON the lines themselves, and only of what is searched", async () => {
    const command = new CommandLine()
    const { out } = await command.run("top", "--json", "--search", "state:waiting", at(command, "run.ndjson"))
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; key: string })
    expect(lines.length).toBeGreaterThan(1)
    expect(recording.lines).toEqual(expect.arrayContaining(lines))
  })

  // Tests inspector: A terminal is as it was before, however `leasehold top` ends, and no key steers it.
  it("shows hostile states and times so that they steer no terminal", () => {
    const value = { owning: "\u001b]0;x\u0007\u001b[2J" } as unknown as SandboxRow["value"]
    const feed = { ...feedOf(row({ value, since: -1e308, deadline: -1e308 })), now: () => -1e308 }
    // oxlint-disable-next-line no-control-regex -- it is about control characters
    expect(frame(viewOf(feed), feed).join("")).not.toMatch(/[\u0000-\u001f]/)
  })

  it("writes hostile keys so that they steer no terminal", async () => {
    const command = new CommandLine()
    const key = "a/\u001b[2Jx\u202e"
    const lines = [{ kind: "state", at: 1, worker: "w\n", key, value: waiting, token: null }] as const
    writeFileSync(join(command.cwd, "bad.ndjson"), formatTrace({ header: recording.header, lines }))
    const { out } = await command.run("top", "bad.ndjson")
    expect(out).toBe("1970-01-01T00:00:00.001Z  w⟨U+000A⟩  a/⟨U+001B⟩[2Jx⟨U+202E⟩  waiting: watching\n")
    const json = await command.run("top", "--json", "bad.ndjson")
    expect(json.out).toMatch(/^[ -~]*\n$/)
  })

  it.each([
    [["top"], 64, "LEASEHOLD_PAGE"],
    [["top", "http://127.0.0.1:1/"], 64, "has no token"],
    [["top", "nowhere.ndjson"], 64, "can't be read"],
    [["top", "--search", "held:5m", "x"], 64, "write held>5m"],
    [["open", "nowhere.ndjson"], 64, "can't be read"],
    [["open", "--port", "70000", "x"], 64, "--port is"],
  ])("%o is refused with what to do", async (words, code, said) => {
    expect(await new CommandLine().run(...words)).toMatchObject({ code, err: expect.stringContaining(said) })
  })

  it("takes an address from the environment, where it isn't among the arguments that all can read", async () => {
    const command = new CommandLine()
    command.env["LEASEHOLD_PAGE"] = "http://127.0.0.1:1/?no-token"
    const { code, err } = await command.run("top", "--plain")
    expect({ code, err }).toEqual({ code: 64, err: expect.stringContaining("token") })
  })

  it("refuses what is no trace with the line that is none", async () => {
    const command = new CommandLine()
    writeFileSync(join(command.cwd, "no.ndjson"), "{}\n")
    for (const name of ["top", "open"]) {
      expect(await command.run(name, "no.ndjson")).toMatchObject({ code: 65, err: expect.stringContaining("Line 1") })
    }
  })
})

describe("the lines of top", () => {
  /** Over a live fleet whose events the test makes. What was told is the keys, with their states. */
  class Lines {
    readonly time: VirtualTime = new VirtualTime()
    readonly fleet: Fleet = new Fleet()
    readonly #said = { out: "", err: "" }
    readonly #command = new CommandLine()
    readonly #end = Promise.withResolvers<void>()
    readonly #ended: Promise<void>
    #events: FeedEvents | undefined

    constructor(text: string) {
      const io = { ...this.#command.io(this.#said), clock: this.time }
      const output = new Output(io, { json: false, color: false })
      const run: TopFeed["run"] = async (events) => {
        this.#events = events
        await this.#end.promise
      }
      const feed: TopFeed = { name: "", isLive: true, fleet: this.fleet, now: () => this.now, run }
      const call = { io, output, options: {}, operands: [], command: undefined }
      this.#ended = plain(call, feed, parseSearch(text) as Search)
    }

    get now(): number {
      return this.time.read().wall
    }

    /** As `liveFeed` tells them. */
    begin(...rows: readonly SandboxRow[]): void {
      this.fleet.apply("hello", { version: 1, source: "live", now: this.now, rows: 0, title: null, actions: false })
      this.fleet.apply("rows", rows)
      this.fleet.apply("ready", {})
      this.events.problem(null)
      this.events.ready()
    }

    line(line: TraceLine): void {
      this.fleet.line(line)
      this.events.line(line)
      this.events.problem(null)
    }

    get events(): FeedEvents {
      return this.#events!
    }

    told(): readonly string[] {
      const lines = this.#said.out.split("\n").slice(0, -1)
      this.#said.out = ""
      return lines.map((line) => line.replace(/^\S+ {2}\S+ {2}/, ""))
    }

    /** How many timers it has left. */
    async end(): Promise<number> {
      this.#end.resolve()
      await this.#ended
      return this.time.pendingTimers
    }
  }

  it("tell a sandbox once a time that is searched for is reached, though nothing happens", async () => {
    const lines = new Lines("state:waiting waited>10s")
    lines.begin(
      row({ key: "order/1", value: waiting, since: lines.now - 20_000 }),
      row({ key: "order/2", value: waiting, since: lines.now - 5000 }),
      row({ key: "order/3" }),
    )
    expect(lines.told()).toEqual(["order/1  waiting: watching"])
    await lines.time.advance(4000)
    expect(lines.told()).toEqual([])
    await lines.time.advance(60_000)
    expect(lines.told()).toEqual(["order/2  waiting: watching"])
    lines.line(state("order/2", running, lines.now))
    lines.line(state("order/2", waiting, lines.now))
    await lines.time.advance(60_000)
    expect(lines.told()).toEqual(["order/2  waiting: watching"])
    expect(await lines.end()).toBe(0)
  })

  it("tell no time as reached of a worker that isn't heard", async () => {
    const lines = new Lines("waited>10s")
    lines.begin(row({ value: waiting, since: lines.now }))
    lines.events.problem("nobody listens there")
    await lines.time.advance(60_000)
    expect(lines.told()).toEqual([])
    expect(await lines.end()).toBe(0)
  })

  it("go on after a connection that broke off, where its stream goes on too", async () => {
    const lines = new Lines("")
    lines.begin(row())
    lines.events.problem("it says nothing")
    expect(lines.told()).toHaveLength(1)
    lines.line(state("order/1", settling, lines.now))
    expect(lines.told()).toEqual(["order/1  handingOff: settling"])
    expect(await lines.end()).toBe(0)
  })

  it("keep nothing of sandboxes that are no more", async () => {
    const lines = new Lines("")
    lines.begin()
    lines.line(state("order/1", { released: "clean" }, lines.now))
    lines.fleet.apply("forget", { workers: ["a"] })
    await lines.time.advance(2000)
    expect(lines.fleet.takeChanges()).toMatchObject({ rows: new Set(), gone: new Set() })
    expect(await lines.end()).toBe(0)
  })
})

describe("the screen of top", () => {
  const rows = [
    row({ key: "order/1", ownedSince: 0 }),
    row({ key: "order/2", value: waiting, since: 0 }),
    row({ key: "stock/1", worker: "b", value: settling, since: NOW - 10, leaving: "drain" }),
  ]

  it("shows counts, workers with their problems, and the sandboxes, what needs attention first", () => {
    const feed = feedOf(...rows)
    const lines = frame(viewOf(feed), feed)
    expect(lines).toHaveLength(24)
    expect(lines[1]).toContain("acquiring 0  waiting 1  owning 1  handingOff 1  released 0")
    expect(lines[2]).toBe("! b: nobody listens there")
    const table = lines.filter((line) => /(order|stock)\//.test(line))
    expect(table.map((line) => line.slice(0, 12))).toEqual(["> handingOff", "! waiting wa", "  owning run"])
    expect(lines.at(-2)).toMatch(/^Nothing is heard of its worker/)
  })

  it("fits into any terminal, wide characters and long keys included", () => {
    const feed = feedOf(row({ key: `漢字/${"長".repeat(200)}` }), ...rows)
    for (const size of [
      { columns: 20, rows: 8 },
      { columns: 1, rows: 1 },
      { columns: 300, rows: 60 },
    ]) {
      const lines = frame(viewOf(feed), feed, { size })
      expect(lines).toHaveLength(size.rows)
      expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(size.columns)
    }
    expect(fit("漢字", 3)).toBe("漢…")
  })

  it("says why nothing is heard", () => {
    const feed = feedOf(...rows)
    const lines = frame(viewOf(feed), feed, { problem: "nobody listens there" })
    expect(lines[1]).toBe("Nothing is heard: nobody listens there. It is tried again.")
  })

  it("moves by arrows, and keeps the selected one in sight", () => {
    const many = Array.from({ length: 100 }, (_, n) => row({ key: `k${String(n).padStart(3, "0")}` }))
    const feed = feedOf(...many)
    const view = viewOf(feed)
    frame(view, feed)
    press(view, "\u001b[B\u001b[Bjk")
    expect(view.selected?.key).toBe("k002")
    press(view, "\u001b[F")
    expect(view.selected?.key).toBe("k099")
    expect(frame(view, feed).some((line) => line.startsWith(">") && line.includes("k099"))).toBe(true)
    press(view, "\u001b[5~\u001b[H\u001b[A")
    expect(view.selected?.key).toBe("k000")
  })

  it("searches what is typed after /, and says what is wrong with it", () => {
    const feed = feedOf(...rows)
    const view = viewOf(feed)
    press(view, "/order")
    expect(frame(view, feed).at(-1)).toBe("/order_")
    press(view, "\r")
    expect(keysShown(view)).toEqual(["order/2", "order/1"])
    press(view, "/\u007f\u007f\u007f\u007f\u007fheld:5m\r")
    expect(frame(view, feed).at(-2)).toMatch(/write held>5m/)
    press(view, "\u001b")
    expect([view.isTyping, view.text, keysShown(view).length]).toEqual([false, "order", 2])
    expect(press(view, "/q")).toBe(false) // a letter like any other
    press(view, "\u001b")
  })

  it("sorts by another column at s, shows only what needs attention at a, and ends at q and Ctrl-C", () => {
    const feed = feedOf(...rows)
    const view = viewOf(feed)
    press(view, "s")
    expect([view.sort, keysShown(view)]).toEqual(["key", ["order/1", "order/2", "stock/1"]])
    press(view, "s")
    expect(keysShown(view)).toEqual(["order/1", "order/2", "stock/1"])
    press(view, "a")
    expect(keysShown(view)).toEqual(["order/2", "stock/1"])
    expect([press(view, "x"), press(view, "q"), press(view, "\u0003")]).toEqual([false, true, true])
  })

  it("takes keys that it doesn't know for nothing", () => {
    expect(keysOf("\u001b[1;5C\u001b[Za\u0000").map(({ name }) => name)).toEqual(["other", "other", "text", "other"])
  })

  it("knows how often a worker renews, and begins anew with its next life", () => {
    const rates = new Rates()
    rates.read([worker({ stats: { renewals: 10 } })], 0)
    expect(rates.perSecond.size).toBe(0)
    rates.read([worker({ stats: { renewals: 20 } })], 2000)
    expect(rates.perSecond.get("a")).toBe(5)
    rates.read([worker({ stats: { renewals: 1 } })], 3000)
    expect(rates.perSecond.size).toBe(0)
  })
})
