/** The program that a mutant's tree runs: hunts, given as JSON, one after another until one finds something. */
import process from "node:process"
import { hunt } from "./hunters.ts"
import type { Catch, Hunt } from "./mutant.ts"

const hunts = JSON.parse(process.argv[2]!) as readonly Hunt[]
const tried: Catch[] = []
for (const by of hunts) {
  const found = await hunt(by)
  tried.push(found)
  if (found.violation !== "") break
}
console.log(JSON.stringify(tried))
process.exit()
