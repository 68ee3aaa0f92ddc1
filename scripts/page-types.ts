/**
 * Compiles the TypeScript that the pages show, as a user's project would. What a page takes as given (a request, a
 * clock) is declared here. A block that doesn't begin with its imports goes on from the first one of its page.
 *
 * Not here: the programs of docs/testing.md, which are tests; and what a page shows that isn't TypeScript.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import manifest from "../deno.json" with { type: "json" }
import { type Outcome, run } from "./run.ts"

/** The pages, and what their blocks take as given. */
const pages: Readonly<Record<string, string>> = {
  "README.md": "declare function work(options: { signal: AbortSignal; fencingToken: number }): Promise<void>",
  "docs/file-locks.md": "",
  "docs/waiting.md": `
    declare const options: Readonly<Record<string, string | undefined>>
    declare const configuration: { readonly locking?: { readonly timeout?: string } }
    declare const request: Request
    declare const shutdown: AbortController`,
  "docs/providers.md": `
    import { writeFile } from "node:fs/promises"
    import { join } from "node:path"
    declare const directory: string
    declare function buyerOf(file: string): Promise<string | undefined>`,
  "docs/seeing-it.md": `
    import type { Server } from "node:http"
    import type { SandboxManager } from "leasehold"
    import type { AnyStateMachine } from "xstate"
    declare const checkout: AnyStateMachine
    declare const manager: SandboxManager
    declare const server: Server
    declare const address: string
    declare function answer(request: unknown, response: unknown): void`,
  "docs/trace.md": `
    import { type CheckpointStore, type Clock, type Incarnation, type LeaseStore } from "leasehold"
    import { type SandboxDefinition, SandboxManager } from "leasehold"
    import { formatTrace, parseTrace, type TraceLine, traceHash, TraceRecorder } from "leasehold/testing"
    declare const world: { readonly clock: Clock }
    declare const store: LeaseStore & CheckpointStore
    declare const clock: Clock
    declare const incarnation: Incarnation
    declare const counter: SandboxDefinition<{ n: number }, { n: number }>`,
}

/** Compiles them all at once. */
export function pageTypes(): Outcome {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-pages-"))
  try {
    const sources = Object.entries(pages).flatMap(([page, given]) => sourcesOf(page, given))
    for (const { name, text } of sources) writeFileSync(join(folder, name), text)
    symlinkSync(join(process.cwd(), "node_modules"), join(folder, "node_modules"))
    writeFileSync(join(folder, "package.json"), `{ "type": "module" }`)
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project()))
    const { ok, output } = run("tsc", "-p", folder)
    return { ok: ok && sources.length > Object.keys(pages).length, output: `${sources.length} blocks\n${output}` }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

interface Source {
  readonly name: string
  readonly text: string
}

function sourcesOf(page: string, given: string): readonly Source[] {
  const blocks = Array.from(readFileSync(page, "utf8").matchAll(/^```ts\n(.*?)^```/gms), ([, code = ""]) => code)
  const [first = ""] = blocks
  return blocks.map((code, index) => {
    const before = index === 0 || code.startsWith("import ") ? "" : first
    return { name: `${page.replaceAll(/\W/g, "-")}-${index}.ts`, text: `${given}\n${before}${code}export {}\n` }
  })
}

/** The project's own settings, with `leasehold` read from its sources, and names that a block needn't use. */
function project(): object {
  const entries = Object.entries(manifest.exports)
  const paths = Object.fromEntries(
    entries.map(([name, file]) => [`leasehold${name.slice(1)}`, [join(process.cwd(), file)]]),
  )
  const unused = { noUnusedLocals: false, noUnusedParameters: false }
  const compilerOptions = { paths, isolatedDeclarations: false, declaration: false, ...unused }
  return { extends: join(process.cwd(), "tsconfig.json"), compilerOptions, include: ["*.ts"] }
}
