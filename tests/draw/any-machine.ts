/** Machines of any shape, for tests of what holds of all of them. */
import fc from "fast-check"
import { type AnyStateMachine, createMachine } from "xstate"

interface Tree {
  readonly kind: "plain" | "parallel" | "final" | "shallow" | "deep"
  readonly name: string
  readonly children: readonly Tree[]
}

interface Arrow {
  readonly from: number
  readonly to: readonly number[]
  readonly event: string
  readonly kind: "on" | "always" | "after"
  readonly guard: boolean
  readonly reenter: boolean
}

const name = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[a-z]{1,12}$/) },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 60, unit: "binary" }) },
)

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    kind: fc.oneof(
      { weight: 6, arbitrary: fc.constant("plain" as const) },
      { weight: 2, arbitrary: fc.constantFrom("parallel", "final", "shallow", "deep") },
    ),
    name,
    children: fc.oneof(
      { maxDepth: 3, depthSize: "max" },
      { weight: 1, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.array(tie("tree"), { minLength: 1, maxLength: 4, size: "max" }) },
    ),
  }),
}))

const arrow = (): fc.Arbitrary<Arrow> =>
  fc.record({
    from: fc.nat(),
    to: fc.array(fc.nat(), { maxLength: 2 }),
    event: name,
    kind: fc.constantFrom("on", "on", "on", "always", "after"),
    guard: fc.boolean(),
    reenter: fc.boolean(),
  })

/**
 * What any machine is made from: nested, parallel, with history and final states, and arrows from anywhere to anywhere.
 */
export const anyConfig: fc.Arbitrary<Config> = fc
  .record({ root: tree, arrows: fc.array(arrow(), { maxLength: 14, size: "max" }) })
  .map(({ root, arrows }) => configOf({ ...root, kind: "plain" }, arrows))

/** The machine of it. */
export const machineOf = (config: Config): AnyStateMachine => createMachine(config as never)

/** The configuration of a state. */
export interface Config {
  id: string
  type?: string
  history?: string
  initial?: string
  states?: Record<string, Config>
  on?: Record<string, object[]>
  always?: object[]
  after?: Record<string, object[]>
}

function configOf(root: Tree, arrows: readonly Arrow[]): Config {
  const all: Config[] = []
  const config = configAt(root, all)
  const sources = all.filter(({ type }) => type !== "history" && type !== "final")
  for (const { from, to, event, kind, guard, reenter } of arrows) {
    const source = sources[from % sources.length]!
    const transition = {
      target: to.length === 0 ? undefined : to.map((target) => `#${all[target % all.length]!.id}`),
      ...(guard && { guard: "isSo" }),
      reenter,
      actions: "act",
    }
    if (kind === "always") (source.always ??= []).push(transition)
    else if (kind === "after") ((source.after ??= {})["500"] ??= []).push(transition)
    else ((source.on ??= nothing())[event] ??= []).push(transition)
  }
  return config
}

/** Names may be those of what every object has. */
const nothing = (): Record<string, object[]> => Object.create(null) as Record<string, object[]>

function configAt({ kind, children }: Tree, all: Config[]): Config {
  const config: Config = { id: `s${all.length}` }
  all.push(config)
  if (kind === "final") return Object.assign(config, { type: "final" })
  if (kind === "shallow" || kind === "deep") return Object.assign(config, { type: "history", history: kind })
  const states = new Map<string, Config>()
  for (const child of children) {
    if (!states.has(child.name) && child.name !== "__proto__") states.set(child.name, configAt(child, all))
  }
  const first = [...states].find(([, { type }]) => type !== "history")
  // XState enters a state first, never a history.
  if (first === undefined) {
    all.splice(all.indexOf(config) + 1)
    return config
  }
  const isParallel = kind === "parallel"
  return Object.assign(config, {
    ...(isParallel ? { type: "parallel" } : { initial: first[0] }),
    states: Object.fromEntries(states),
  })
}
