/**
 * The picture of docs/architecture.md: the floors of scripts/house/rooms.ts, one above the other, and in each of them
 * the folders that src has. Owns where things stand; what the folders are for is said in the page.
 */
import { floors, rooms as listed } from "../house/rooms.ts"

/** Lengths are pixels. */
const WIDTH = 960
const MARGIN = 24
const GAP = 10
const ROOM_HEIGHT = 46
/** Left of the rooms stands the floor's name. */
const ROOMS_FROM = 136
/** Of a character, at the size of its text. */
const NAME_WIDTH = 7.6
const INSIDE_WIDTH = 6.8

interface Room {
  readonly name: string
  /** The folders in it. */
  readonly inside: string
}

interface Placed extends Room {
  readonly x: number
  readonly row: number
  readonly width: number
}

/** The picture. */
export function houseSvg(): string {
  let y = MARGIN
  const drawn = floors.toReversed().map((floor) => {
    const rooms = placed(roomsOf(floor))
    const height = GAP + ((rooms.at(-1)?.row ?? 0) + 1) * (ROOM_HEIGHT + GAP)
    const text = floorSvg(floor, rooms, { y, height })
    y += height + GAP
    return text
  })
  return page(drawn, y - GAP + MARGIN)
}

/** The folders right below a floor, each with those below it, from the ground up. */
function roomsOf(floor: string): Room[] {
  const start = `src/${floor}/`
  const below = Object.keys(listed).flatMap((room) => (room.startsWith(start) ? [room.slice(start.length)] : []))
  return below
    .filter((folder) => !folder.includes("/"))
    .map((name) => {
      const inside = below.filter((folder) => folder.startsWith(`${name}/`))
      return { name, inside: inside.map((folder) => folder.slice(name.length + 1)).join(" ") }
    })
}

/** From left to right, in as many rows as it takes. */
function placed(rooms: readonly Room[]): Placed[] {
  let [x, row] = [ROOMS_FROM, 0]
  return rooms.map((room) => {
    const width = Math.ceil(Math.max(room.name.length * NAME_WIDTH, room.inside.length * INSIDE_WIDTH)) + 20
    if (x + width > WIDTH - MARGIN - GAP) [x, row] = [ROOMS_FROM, row + 1]
    const here = { ...room, x, row, width }
    x += width + GAP
    return here
  })
}

function floorSvg(floor: string, rooms: readonly Placed[], { y, height }: { y: number; height: number }): string {
  const boxes = rooms.map(({ name, inside, x, row, width }) => {
    const top = y + GAP + row * (ROOM_HEIGHT + GAP)
    return [
      `  <rect class="room" x="${x}" y="${top}" width="${width}" height="${ROOM_HEIGHT}" rx="6"/>`,
      `  <text class="name" x="${x + 10}" y="${top + (inside === "" ? 28 : 20)}">${name}</text>`,
      ...(inside === "" ? [] : [`  <text class="inside" x="${x + 10}" y="${top + 37}">${inside}</text>`]),
    ].join("\n")
  })
  return [
    `  <rect class="floor" x="${MARGIN}" y="${y}" width="${WIDTH - 2 * MARGIN}" height="${height}" rx="10"/>`,
    `  <text class="title" x="${MARGIN + 16}" y="${y + GAP + 28}">${floor}</text>`,
    ...boxes,
  ].join("\n")
}

const page = (drawn: readonly string[], height: number): string => `<svg xmlns="http://www.w3.org/2000/svg" \
viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="t d">
  <title id="t">The floors and folders of src</title>
  <desc id="d">From the top: ${floors.toReversed().join(", ")}. A floor imports only those below it.</desc>
  <style>
    :root { color-scheme: light dark }
    svg { --paper: #ffffff; --ink: #1c2430; --soft: #5b6675; --line: #b9c2ce; --fill: #f3f5f8 }
    @media (prefers-color-scheme: dark) {
      svg { --paper: #12161c; --ink: #e8ecf1; --soft: #a3adba; --line: #455060; --fill: #1b212a }
    }
    text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12.5px; fill: var(--ink) }
    .title { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-weight: 600; font-size: 15px }
    .inside { font-size: 11px; fill: var(--soft) }
    .floor { fill: var(--fill); stroke: var(--line); stroke-width: 1.2 }
    .room { fill: var(--paper); stroke: var(--line); stroke-width: 1.2 }
  </style>
  <rect width="${WIDTH}" height="${height}" rx="12" fill="var(--paper)"/>
${drawn.join("\n")}
</svg>
`
