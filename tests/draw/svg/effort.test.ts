// Pins which machines are laid out fast instead of well, and that the laws hold of them too.
import { expect, it } from "vitest"
import { type AnyStateMachine, createMachine } from "xstate"
import { isEntangled } from "../../../src/draw/svg/effort.ts"
import { linksOf } from "../../../src/draw/svg/links.ts"
import { broken } from "../laws.ts"
import { all } from "../machines/all.ts"
import { readMachine } from "../parts.ts"

/** A ring of states, each with a way to another far away. */
function ring(size: number): AnyStateMachine {
  const state = (index: number): [string, object] => [
    `s${index}`,
    { on: { next: `s${(index + 1) % size}`, jump: `s${(index * 7 + 3) % size}` } },
  ]
  const states = Object.fromEntries(Array.from({ length: size }, (_, index) => state(index)))
  return createMachine({ id: "ring", initial: "s0", states } as never)
}

const isFast = (machine: AnyStateMachine): boolean => {
  const graph = readMachine(machine)
  return isEntangled(graph, linksOf(graph))
}

// Tests drawings: The machine alone decides its layout, never the time that one takes.
it("are those with many states beside each other and lines all over", async () => {
  expect(Object.entries(all).filter(([, machine]) => isFast(machine))).toEqual([])
  expect([10, 40, 60].map((size) => isFast(ring(size)))).toEqual([false, true, true])
  expect(await broken(ring(60))).toEqual([])
})
