// Pins the sequence and the lanes of a recorded run: requests with what came of them, changes of hands, faults, gaps.
import { beforeAll, describe, expect, it } from "vitest"
import { Lanes } from "../../../../src/inspector/live/model/lanes.ts"
import { GAP, type SequenceItem, sequenceOf } from "../../../../src/inspector/live/model/sequence.ts"
import { encodeName } from "../../../../src/locks/api/keys.ts"
import type { AnswerLine, HandoffLine, LockLine, RequestLine } from "../../../../src/trace/trace.ts"
import { recorded, type Recording } from "../../scenario.ts"
import { running, settling, state } from "../made.ts"

const ofKind = <K extends SequenceItem["kind"]>(items: readonly SequenceItem[], kind: K) =>
  items.filter((item): item is Extract<SequenceItem, { kind: K }> => item.kind === kind)

describe("of a recorded run", () => {
  let recording: Recording
  beforeAll(async () => {
    recording = await recorded(7)
  })

  it("the sequence has every change of hands, from worker to worker", () => {
    const { workers, items } = sequenceOf(recording.lines, "counter/k")
    expect(workers).toEqual(["a", "b"])
    expect(ofKind(items, "handoff").map(({ from, to, how }) => [from, to, how])).toEqual([
      ["a", "b", "granted"],
      ["b", "a", "takeover"],
    ])
  })

  it("the sequence has a long quiet time as one gap, and heartbeats only where they are wanted", () => {
    const { items } = sequenceOf(recording.lines, "counter/k")
    const gaps = ofKind(items, "gap")
    expect(Math.max(...gaps.map(({ ms }) => ms))).toBeGreaterThan(30_000)
    expect(gaps.every(({ ms }) => ms >= GAP)).toBe(true)
    expect(gaps.some(({ quiet }) => quiet > 0)).toBe(true)
    const renewals = (all: readonly SequenceItem[]): number =>
      ofKind(all, "event").filter(({ text }) => text.startsWith("Renewed")).length
    expect(renewals(items)).toBe(0)
    const { items: whole } = sequenceOf(recording.lines, "counter/k", { heartbeats: true })
    expect(renewals(whole)).toBeGreaterThan(3)
    expect(ofKind(whole, "request").length).toBeGreaterThan(ofKind(items, "request").length)
  })

  it("the sequence has each request with its answer, and times never go back", () => {
    const { items } = sequenceOf(recording.lines, "counter/k", { heartbeats: true })
    const requests = ofKind(items, "request")
    const asked = recording.lines.filter(
      (line) => line.kind === "request" && line.name?.startsWith(encodeName("counter/k")),
    )
    expect(requests).toHaveLength(asked.length)
    expect(requests.filter(({ answeredAt, at }) => answeredAt === null || answeredAt < at)).toEqual([])
    expect(items.map(({ at }) => at)).toEqual(items.map(({ at }) => at).sort((a, b) => a - b))
  })

  it("the lanes have the states of each worker as bars without holes, and what befell it", () => {
    const lanes = new Lanes()
    for (const line of recording.lines) lanes.add(line)
    const { from, to } = lanes.span
    const { workers } = lanes.view(from, to)
    expect(workers.map(({ worker, lanes: own }) => [worker, own.map(({ key }) => key)])).toEqual([
      ["a", ["counter/k"]],
      ["b", ["counter/k"]],
    ])
    const states = recording.lines.filter((line) => line.kind === "state" && line.worker === "a")
    const [{ lanes: [own] = [] } = {}] = workers
    expect(own?.bars.map(({ from: begun }) => begun)).toEqual(states.map(({ at }) => at))
    const ends = own!.bars.slice(0, -1).map(({ to: end, state: of }, index) => [of, end === own!.bars[index + 1]!.from])
    expect(ends.filter(([of, touches]) => of !== "released" && touches !== true)).toEqual([])
    expect(workers[1]?.faults.map(({ fault }) => fault)).toEqual(["stepWall", "pause", "resume"])
    expect(workers[1]?.faults[1]?.to).toBe(workers[1]?.faults[2]?.at)
  })

  it("the lanes show of a part what is in it, and no more", () => {
    const lanes = new Lanes()
    for (const line of recording.lines) lanes.add(line)
    const { from } = lanes.span
    const part = lanes.view(from, from + 100)
    const requests = part.workers.flatMap((worker) => worker.requests)
    expect(requests.length).toBeGreaterThan(0)
    expect(requests.every(({ at }) => at <= from + 100)).toBe(true)
    expect(requests.length).toBeLessThan(lanes.view(from, Infinity).workers.flatMap((worker) => worker.requests).length)
    expect(lanes.view(from, Infinity, "none").workers.flatMap((worker) => worker.lanes)).toEqual([])
  })
})

it("a change of hands is told from the lines of all workers, whatever each of them alone knows", () => {
  const acquired = (worker: string, token: number, how: LockLine["how"]): LockLine => ({
    ...{ kind: "lock", at: token, wall: token, worker, key: "k", ownerId: `${worker}-1`, type: "Acquired", token },
    ...(how !== undefined && { how }),
  })
  const handoff = (worker: string, token: number, how: HandoffLine["how"]): HandoffLine => ({
    ...{ kind: "handoff", at: token, worker, key: "k", how, token },
    ...{ from: null, fromToken: null, to: `${worker}-1`, ms: null },
  })
  const lines = [
    ...[acquired("a", 1, "created"), acquired("b", 2, "granted"), handoff("b", 2, "granted")],
    ...[acquired("a", 3, "takeover"), handoff("a", 3, "takeover")],
  ]
  const { items } = sequenceOf(lines, "k")
  expect(ofKind(items, "handoff").map(({ from, to }) => [from, to])).toEqual([
    ["a", "b"],
    ["b", "a"],
  ])
  const late = sequenceOf(lines.slice(3), "k") // who began to look later hears of no more than that worker tells
  expect(ofKind(late.items, "handoff").map(({ from, to }) => [from, to])).toEqual([[null, "a"]])
})

const request = (id: number, at: number, more: Partial<RequestLine> = {}): RequestLine => ({
  ...{ kind: "request", at, worker: "a", id, store: "memory", op: "put", area: "leases", name: "k", deadline: 1 },
  ...more,
})
const answer = (id: number, at: number, outcome: AnswerLine["outcome"]): AnswerLine => ({
  ...{ kind: "answer", at, worker: "a", id, ms: 1, outcome },
})

it("a request says what became of it: done, refused by its precondition, unknown, or without an answer yet", () => {
  const lines = [
    ...[request(1, 1), answer(1, 2, "applied"), request(2, 3), answer(2, 4, "refused")],
    ...[request(3, 5), answer(3, 6, "unknown"), request(4, 7)],
  ]
  const fates = ofKind(sequenceOf(lines, "k").items, "request").map(({ fate, answeredAt }) => [fate, answeredAt])
  expect(fates).toEqual([
    ["done", 2],
    ["refused", 4],
    ["unknown", 6],
    ["open", null],
  ])
})

it("a key is told from others by the names of its objects, hashed ones too", () => {
  const long = "x".repeat(300)
  const lines = [
    request(1, 1, { name: encodeName("K/1") }),
    request(2, 2, { area: "state", name: `${encodeName("K/1")}/head` }),
    request(3, 3, { name: encodeName("K/11") }),
    request(4, 4, { name: encodeName(long) }),
    request(5, 5, { area: "probe", name: encodeName("K/1") }),
  ]
  expect(sequenceOf(lines, "K/1").items.map(({ at }) => at)).toEqual([1, 2])
  expect(sequenceOf(lines, long).items.map(({ at }) => at)).toEqual([4])
})

it("a lane ends where its worker is killed", () => {
  const lanes = new Lanes()
  lanes.add(state("k", running, 10))
  lanes.add(state("k", settling, 20))
  lanes.add({ kind: "fault", at: 30, worker: "a", fault: "crash", detail: { ms: 100 } })
  const [{ lanes: own, faults } = { lanes: [], faults: [] }] = lanes.view(0, 100).workers
  expect(own[0]?.bars.map(({ from, to }) => [from, to])).toEqual([
    [10, 20],
    [20, 30],
  ])
  expect(faults[0]).toMatchObject({ at: 30, to: 130 })
})
