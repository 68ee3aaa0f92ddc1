/** The parts of the drawings that tests look into. */
export { isWithin } from "../../src/draw/graph.ts"
export type { Placed } from "../../src/draw/layout.ts"
export { readMachine } from "../../src/draw/read-machine.ts"
export { marksOf } from "../../src/draw/svg-options.ts"
export { placed } from "../../src/draw/svg.ts"
