/** The parts of the drawings that tests look into. */
export { isWithin } from "../../src/draw/machine/graph.ts"
export type { PlacedDrawing } from "../../src/draw/svg/placed.ts"
export { readMachine } from "../../src/draw/machine/read-machine.ts"
export { marksOf } from "../../src/draw/svg/options.ts"
export { placed } from "../../src/draw/svg/svg.ts"
