/**
 * The sources without what hooks a trace in, as edits of their text: each place that one sandbox passes on its way,
 * begun, used and released on a store in memory. What is left makes no line and looks for no reader.
 */
import type { Edit } from "../../scripts/mutants/mutant.ts"

/** In the order in which a sandbox passes them. */
export const untapped: readonly Edit[] = [
  {
    file: "src/actors/manager/manager.ts",
    find: `traced(this.#settings.trace, () => ({ ...asked, key: wait.key, ...wait.budget }), make)`,
    replace: `make()`,
  },
  {
    file: "src/actors/registry/registry.ts",
    find: `        this.#settings.trace.lines?.lock(event)\n`,
    replace: ``,
  },
  {
    file: "src/actors/sandbox/runtime.ts",
    find: `    this.#around.trace.lines?.state(snapshot)\n`,
    replace: ``,
  },
  {
    file: "src/locks/engine/key-requests.ts",
    find: `await this.#parts.taps.later(this, { type: "read", known }, deadline, ask)`,
    replace: `await ask()`,
  },
  {
    file: "src/locks/engine/key-requests.ts",
    find: `      this.#parts.taps.later(this, request, deadline, () =>
        request.type === "remove"
          ? this.#store.remove(this.ref, expected, options)
          : this.#store.put(this.ref, expected, encoder.encode(request.body), options),
      )
`,
    replace: `      request.type === "remove"
        ? this.#store.remove(this.ref, expected, options)
        : this.#store.put(this.ref, expected, encoder.encode(request.body), options)
`,
  },
  {
    file: "src/actors/registry/options.ts",
    find: `  const recorded = recordedStore(store, trace)\n  sharesDoor(recorded, store)\n  return recorded\n`,
    replace: `  return store as unknown as Recorded<S>\n`,
  },
  {
    file: "src/actors/sandbox/work/hook-runs.ts",
    find: `const ends = this.#owner.onBegin(hook, reason)`,
    replace: `const ends = undefined`,
  },
  {
    file: "src/actors/sandbox/work/hook-runs.ts",
    find: `    open.ends?.(failed)\n`,
    replace: ``,
  },
  {
    file: "src/actors/sandbox/handle.ts",
    find: `    const asked = (): CallDetail => ({ call: "use", key, ...wait.budget, durable: durable === true })
    return await traced(this.#trace, asked, () => use(this.#activation, fn, { wait, signal, durable }))
`,
    replace: `    return await use(this.#activation, fn, { wait, signal, durable })\n`,
  },
  {
    file: "src/actors/sandbox/handle.ts",
    find: `    return traced(
      this.#trace,
      () => ({ call: "release", key }),
      () => this.#runtime.release(),
    )
`,
    replace: `    return this.#runtime.release()\n`,
  },
  {
    file: "src/actors/sandbox/runtime.ts",
    find: `    this.#around.trace.lines?.forget(this.lockKey)\n`,
    replace: ``,
  },
]
