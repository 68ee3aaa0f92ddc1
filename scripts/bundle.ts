// The `leasehold` command as few files that load fast: dist/bin/leasehold.js, what it always needs, and one more for
// each kind of store and each command. Part of `npm run build`; an argument is another folder, which is made a package,
// so that Node knows the files for modules without a look at them. What is bundled of other packages keeps its licence
// beside it.
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { type Plugin, rolldown } from "rolldown"

const folder = process.argv[2] ?? "dist/bin"

/** What only some commands need, or whoever uses another store. */
const apart =
  /\/src\/(cli\/(bin|help|commands\/|frame\/moments|stores\/(records|show)|process\/text-file)|locks\/stores\/(gcs|memory)|actors|draw|inspector|trace)|\/node_modules\/xstate\//

/** What says where compiled code is kept, before the rest is loaded. */
const first = /\/src\/cli\/process\/(code-cache|private-group|quoted|strangers|user-folder)/

const BUILTIN = "\0builtin:"
/**
 * An import of a builtin module reads all that it has, and so loads what nobody wants: three streams for `process`,
 * those of files for `fs`. That takes milliseconds of each start. What is asked for by name is read alone.
 */
const lazyBuiltins: Plugin = {
  name: "lazy builtins",
  resolveId: (id) => (id.startsWith("node:") ? `${BUILTIN}${id}` : undefined),
  load: (id) => (id.startsWith(BUILTIN) ? textOf(id.slice(BUILTIN.length)) : undefined),
}

/** A module with the same exports, of which the bundler keeps those that are used. */
function textOf(builtin: string): string {
  const module = process.getBuiltinModule(builtin)
  const read = builtin === "node:process" ? "globalThis.process" : `globalThis.process.getBuiltinModule("${builtin}")`
  const names = Object.keys(Object.getOwnPropertyDescriptors(module)).filter((name) => /^[A-Za-z]\w*$/.test(name))
  const exported = names
    .filter((name) => name !== "default")
    .map((name) => `const ${name}_ = module.${name}\nexport { ${name}_ as ${name} }`)
  return [`const module = /* @__PURE__ */ ${read}`, "export default module", ...exported].join("\n")
}

const bundle = await rolldown({
  input: { leasehold: "src/cli/bin.ts" },
  // Not `node`: under that condition RxJS is one CommonJS module, with all of its operators.
  platform: "neutral",
  plugins: [lazyBuiltins],
  treeshake: { propertyReadSideEffects: false },
  // Loaded only by who uses a bucket, and too large to be worth copying.
  external: ["undici", "google-auth-library", "elkjs"],
  resolve: { conditionNames: ["es2015", "import", "default"] },
  tsconfig: false,
})
const { output } = await bundle.write({
  dir: folder,
  format: "esm",
  minify: true,
  chunkFileNames: "[name]-[hash].js",
  // In base 64 a hash may have a `-` in it, and nobody could tell the part's name from it.
  hashCharacters: "hex",
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
if (process.argv[2] !== undefined) writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n')

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
