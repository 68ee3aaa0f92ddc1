/**
 * What two worlds differ in that matters: names are made up anew in the order in which they appear, and processes that
 * are alike may stand in any order. A hash of it stands for the world.
 *
 * Worlds share most of their parts, so each part is turned into text once.
 */
import { sha256 } from "../../../runtime/time/hash.ts"
import { lively, processShape } from "./shapes.ts"
import type { Mail, Process, World } from "./world.ts"

/** Text between names: one more than there are names. */
interface Pieces {
  readonly texts: readonly string[]
  readonly names: readonly string[]
  /** The part by itself, with names of its own: alike for parts that are alike. */
  readonly alone: string
}

/** Names that are fresh at each step (`p#7`), generations (`l@7`), and the processes themselves. */
const names = /([a-z]\d*[#@][a-z]?\d+|(?<=["\\ ])[p-r]\d*(?=["\\ ]))/
/** Numbers that tell requests and answers apart, no more. */
const numbers = /"(?:id|request|requests|steps)":\d+/g

/** The same for worlds from which the same can come. `orders`: how the processes may stand. */
export function keyOf(world: World, orders: readonly (readonly number[])[]): string {
  const keys = foremost(world, orders).map((order) => textOf(world, order))
  const text = keys.length === 1 ? keys[0]! : keys.reduce((a, b) => (a < b ? a : b))
  return sha256(text).slice(0, 20)
}

/**
 * Those orders that put first whose text comes first by itself: all of them where the processes can't be told apart.
 */
function foremost({ processes }: World, orders: readonly (readonly number[])[]): readonly (readonly number[])[] {
  if (orders.length === 1) return orders
  const texts = orders.map((order) => order.map((index) => partOf(processes[index]!).alone).join("\n"))
  const first = texts.reduce((a, b) => (a < b ? a : b))
  return orders.filter((_, at) => texts[at] === first)
}

function textOf(world: World, order: readonly number[]): string {
  const { at, lease, head, left, acknowledged, topToken, stranger, passed, processes } = world
  const mail = lively(world)
  const fresh = new Map<string, string>()
  order.forEach((index, place) => fresh.set(processes[index]!.id, `P${place}`))
  let text = JSON.stringify([at, left, topToken, stranger.until])
  for (const index of order) text += joined(partOf(processes[index]!), fresh)
  text += joined(partOf(lease), fresh) + joined(partOf(head), fresh)
  text += joined(piecesOf(JSON.stringify([acknowledged, stranger.beside, passed])), fresh)
  if (mail.length === 0) return text
  return (
    text +
    mail
      .map((letter) => order.indexOf(letter.from) + joined(partOf(letter), fresh))
      .sort()
      .join("")
  )
}

function joined({ texts, names: found }: Omit<Pieces, "alone">, fresh: Map<string, string>): string {
  let text = texts[0]!
  for (let at = 0; at < found.length; at++) {
    const name = found[at]!
    let other = fresh.get(name)
    if (other === undefined) fresh.set(name, (other = `~${fresh.size}`))
    text += other + texts[at + 1]!
  }
  return text
}

const parts = new WeakMap<object, Pieces>()

function partOf(part: Process | Mail | World["lease"] | World["head"]): Pieces {
  let pieces = parts.get(part)
  if (pieces === undefined) parts.set(part, (pieces = piecesOf(JSON.stringify(shapeOf(part)))))
  return pieces
}

/** Without what only counts. */
function shapeOf(part: Process | Mail | World["lease"] | World["head"]): unknown {
  if ("lock" in part) return processShape(part)
  if ("from" in part) return { ...part, from: 0 }
  const { writes: _, ...rest } = part
  return rest
}

function piecesOf(text: string): Pieces {
  const split = text.replace(numbers, "").split(names)
  const pieces = { texts: split.filter((_, at) => at % 2 === 0), names: split.filter((_, at) => at % 2 === 1) }
  return { ...pieces, alone: joined(pieces, new Map()) }
}
