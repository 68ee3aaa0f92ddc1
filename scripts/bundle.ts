// The `leasehold` command as few files that load fast: dist/bin/leasehold.js, what it always needs, and one more for each kind
// of store and each command. Part of `npm run build`; an
// argument is another folder. What is bundled of other packages keeps its licence beside it.
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { type Plugin, rolldown } from "rolldown"

const folder = process.argv[2] ?? "dist/bin"

/** What only some commands need, or whoever uses another store. */
const apart =
  /\/src\/(cli\/(bin|doctor|completions|help|ls|moments|records|request|show|status|unlock)|locks\/stores\/(gcs|memory))/

/** What says where compiled code is kept, before the rest is loaded. */
const first = /\/src\/cli\/(code-cache|private-group|quoted|strangers|user-folder)/

const PROCESS = "\0process"
/** An import of it reads all that `process` has, and so makes three streams that nobody wants: milliseconds. */
const lazyProcess: Plugin = {
  name: "lazy process",
  resolveId: (id) => (id === "node:process" ? PROCESS : undefined),
  load: (id) => (id === PROCESS ? "export default globalThis.process" : undefined),
}

const bundle = await rolldown({
  input: { leasehold: "src/cli/bin.ts" },
  platform: "node",
  plugins: [lazyProcess],
  // Loaded only by who uses a bucket, and too large to be worth copying.
  external: [/^node:(?!process)/, "undici", "google-auth-library"],
  resolve: { conditionNames: ["node", "import", "default"] },
  tsconfig: false,
})
const { output } = await bundle.write({
  dir: folder,
  format: "esm",
  minify: true,
  chunkFileNames: "[name]-[hash].js",
  // What `run` needs in a directory is one file: each module costs the start about a millisecond.
  codeSplitting: {
    groups: [
      { name: "first", test: first, priority: 1 },
      { name: "core", test: (id) => !apart.test(id) },
    ],
  },
})
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
