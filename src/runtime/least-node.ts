/**
 * What each entry point imports first: a Node that is too old is refused in one sentence, where it would fail later, at
 * the first call that it doesn't have. Imports nothing itself, and is understood by every Node that can import a
 * module.
 *
 * The command says so by itself (cli/bin.ts), before it loads anything.
 */

/** As package.json says. */
const LEAST = 24

// An import of node:process would come before this, and a browser has none.
const { process } = globalThis as { readonly process?: { readonly versions?: { readonly node?: string } } }
const version = process?.versions?.node
if (version !== undefined && Number.parseInt(version, 10) < LEAST)
  throw new Error(`leasehold needs Node ${LEAST} or Deno 2.9, and this is Node ${version}.`)
