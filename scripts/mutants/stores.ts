/** Mutants of the stores: what a write is conditioned on. */
import type { Mutant } from "./mutant.ts"

export const storeMutants: readonly Mutant[] = [
  {
    name: "metageneration only: any version will do, if there is one",
    edits: [
      {
        file: "src/testing/simulated-store/store.ts",
        find: "if (there !== expected || (body",
        replace: "if ((there === ABSENT) !== (expected === ABSENT) || (body",
      },
    ],
    hunts: [{ by: "sim", from: 1, to: 100 }],
  },
  {
    name: "processes of one boot share a clock, whatever they reckon of it",
    edits: [
      {
        file: "src/locks/stores/file/time.ts",
        find: "Math.abs(offset - mine) <= AGREED",
        replace: "Math.abs(offset - mine) <= Infinity",
      },
    ],
    hunts: [{ by: "sim", from: 1, to: 400, store: "file" }],
  },
  {
    name: "the file store without its second scan",
    edits: [
      {
        file: "src/locks/stores/file/objects/swap.ts",
        find: "  if (after.highest !== number) return false\n",
        replace: "",
      },
    ],
    hunts: [
      { by: "directory", from: 311, to: 311 },
      { by: "directory", from: 1, to: 5000 },
    ],
  },
]
