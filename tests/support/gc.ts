/** The garbage collector, on request: for tests of what is left behind. */
import process from "node:process"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void
const { setImmediate: turn } = globalThis

/** Collects what can be, finalizers included. */
export async function collected(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    collect()
    await new Promise<void>((resolve) => void turn(resolve))
  }
}

/** Bytes of the heap in use, after a collection. */
export async function heapInUse(): Promise<number> {
  await collected()
  return process.memoryUsage().heapUsed
}
