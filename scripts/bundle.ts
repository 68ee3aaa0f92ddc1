// The `leasehold` command as few files that load fast: dist/bin/leasehold.js, what it always needs, and one more for each kind
// of store and each command. Part of `npm run build`. What is bundled of other packages keeps its licence beside it.
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { rolldown } from "rolldown"

const folder = "dist/bin"

const bundle = await rolldown({
  input: { leasehold: "src/cli/bin.ts" },
  platform: "node",
  // Loaded only by who uses a bucket, and too large to be worth copying.
  external: [/^node:/, "undici", "@google-cloud/storage"],
  resolve: { conditionNames: ["node", "import", "default"] },
  tsconfig: false,
})
const { output } = await bundle.write({ dir: folder, format: "esm", minify: true, chunkFileNames: "[name]-[hash].js" })
await bundle.close()
chmodSync(join(folder, "leasehold.js"), 0o755)

const modules = output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []))
const packages = new Set(modules.flatMap((id) => /.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []))
writeFileSync(join(folder, "LICENSES.txt"), [...packages].toSorted().map(licenceOf).join("\n"))
console.log(`${folder}: ${output.length} files, with ${packages.size} packages`)

function licenceOf(path: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Record<
    string,
    string
  >
  const file = ["LICENSE", "LICENSE.txt", "LICENSE.md", "license"].map((each) => join(path, each)).find(existsSync)
  if (file === undefined) {
    console.error(`${name} has no licence file`)
    process.exitCode = 1
    return ""
  }
  return `${name} ${version} (${license})\n\n${readFileSync(file, "utf8")}\n`
}
