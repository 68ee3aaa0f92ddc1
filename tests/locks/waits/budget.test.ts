/** The budget that a program is told from outside, and what a timeout says of it. */
import process from "node:process"
import { describe, expect, it, vi } from "vitest"
import { InvalidConfigError, type LockTimeoutError } from "../../../src/locks/api/errors.ts"
import { waitBudget, type WaitBudgetOptions } from "../../../src/locks/waits/budget.ts"
import { failure, lockWorld } from "../../support/lock-world.ts"

const nothing: WaitBudgetOptions = { environment: {} }
const all: WaitBudgetOptions = {
  flag: "1",
  environment: { LEASEHOLD_LOCK_TIMEOUT: "2" },
  configuration: { locking: { timeout: "3 s" } },
  scope: "deploy",
  scopes: { deploy: 4 },
}

/** What it refuses, as the error. */
function refusal(options: unknown): InvalidConfigError {
  try {
    waitBudget(options as WaitBudgetOptions)
  } catch (error) {
    if (error instanceof InvalidConfigError) return error
    throw error
  }
  throw new Error("it was not refused")
}

describe("a wait budget", () => {
  // Tests waits: The strongest source of a budget counts, and is remembered; bare numbers are seconds.
  it("is the flag's, else the environment's, else the configuration's, else the scope's, else 600 s", () => {
    const without = { ...all }
    const found: unknown[] = []
    for (const source of ["flag", "environment", "configuration", "scope", undefined] as const) {
      const { timeout, timeoutSource } = waitBudget(without)
      found.push([timeoutSource.origin, timeout, timeoutSource.written])
      if (source === "environment") without.environment = {}
      else if (source !== undefined) delete without[source]
    }
    expect(found).toEqual([
      ["flag", 1000, "1"],
      ["environment", 2000, "2"],
      ["configuration", 3000, "3 s"],
      ["scope", 4000, 4],
      ["default", 600_000, 600],
    ])
  })

  it("knows the scopes install, cache and uninstall, and those that it is told; one's own replace them", () => {
    const of = (scope: string, scopes?: WaitBudgetOptions["scopes"]) =>
      waitBudget({ ...nothing, scope, scopes }).timeout
    expect(["install", "cache", "uninstall"].map((scope) => of(scope))).toEqual([30_000, 10_000, 30_000])
    expect(of("migrate", { migrate: "5 min" })).toBe(300_000)
    expect(of("cache", { cache: "infinite" })).toBe("infinite")
  })

  // Tests waits: What is no budget, no known scope, or no `locking` table is refused by name.
  it("refuses a scope that nobody knows, also where it would not count, and names those that are known", () => {
    for (const scope of ["instal", "", "toString", "__proto__"]) {
      const error = refusal({ ...all, scope })
      expect(error.message).toContain(JSON.stringify(scope))
      expect(error.next).toContain("install, cache, uninstall, deploy")
    }
  })

  it("refuses what is no budget, names the source and says what to write", () => {
    const bad: readonly [string, WaitBudgetOptions][] = [
      ['--lock-timeout is "soon"', { ...nothing, flag: "soon" }],
      ['--lock-timeout is ""', { ...nothing, flag: "" }],
      ['--wait is "-1"', { ...nothing, flag: "-1", names: { flag: "--wait" } }],
      ['LEASEHOLD_LOCK_TIMEOUT is "30 sec"', { environment: { LEASEHOLD_LOCK_TIMEOUT: "30 sec" } }],
      ["locking.timeout in the configuration is null", { ...nothing, configuration: { locking: { timeout: null } } }],
      [
        "locking.timeout in a.json is -5",
        { ...nothing, configuration: { locking: { timeout: -5 } }, names: { configuration: "a.json" } },
      ],
      ['scope deploy is "x"', { ...nothing, scope: "deploy", scopes: { deploy: "x" } }],
    ] as never
    for (const [says, options] of bad) {
      const error = refusal(options)
      expect(error.message).toContain(says)
      expect(error.next).toContain('Write seconds (30 or 2.5), a duration ("30 s", "2 min"), 0 for one try')
    }
  })

  it("does not read a source that doesn't count: a flag overrides a malformed variable", () => {
    const budget = waitBudget({ flag: "5", environment: { LEASEHOLD_LOCK_TIMEOUT: "rubbish" } })
    expect(budget.timeout).toBe(5000)
  })

  it("takes an empty environment variable for none, and no other one", () => {
    expect(waitBudget({ environment: { LEASEHOLD_LOCK_TIMEOUT: "" } }).timeoutSource.origin).toBe("default")
    expect(waitBudget({ environment: { LOCK_TIMEOUT: "5" } }).timeoutSource.origin).toBe("default")
  })

  it("refuses a configuration whose locking is no table, also where it would not count, and an option that nobody reads", () => {
    for (const locking of [5, "30", [30]]) {
      for (const others of [nothing, all])
        expect(refusal({ ...others, configuration: { locking } }).message).toContain("locking in the configuration")
    }
    expect(waitBudget({ ...nothing, configuration: { locking: null } } as never).timeoutSource.origin).toBe("default")
    expect(refusal({ ...nothing, flags: "30" }).message).toContain("flags is no option of waitBudget")
    expect(waitBudget({ ...nothing, configuration: { other: 1 } } as never).timeoutSource.origin).toBe("default")
  })

  // Tests input: Unknown options of locks, acquires, providers, observers and budgets are refused.
  it("refuses an environment that is none, options that are none, and takes what a parser made of an empty file", () => {
    for (const environment of [null, 5, "LEASEHOLD_LOCK_TIMEOUT=5"])
      expect(refusal({ environment }).message).toContain("environment is ")
    for (const options of [null, 5]) expect(refusal(options).message).toContain("The options of waitBudget are ")
    expect(waitBudget({ ...nothing, configuration: null } as never).timeoutSource.origin).toBe("default")
  })

  it("doesn't read the environment where Deno was not allowed to, and so doesn't ask at the terminal", () => {
    const asked: unknown[] = []
    const state = { now: "prompt" }
    const querySync = (query: object): { state: string } => (asked.push(query), { state: state.now })
    // Deno itself goes on needing the rest of what is there.
    const { Deno: deno } = globalThis as { Deno?: { permissions: { querySync: typeof querySync } } }
    if (deno === undefined) vi.stubGlobal("Deno", { permissions: { querySync } })
    else vi.spyOn(deno.permissions, "querySync").mockImplementation(querySync)
    vi.stubEnv("LEASEHOLD_LOCK_TIMEOUT", "7")
    try {
      expect(waitBudget().timeoutSource.origin).toBe("default")
      expect(asked).toEqual([{ name: "env", variable: "LEASEHOLD_LOCK_TIMEOUT" }])
      state.now = "granted"
      expect(waitBudget().timeout).toBe(7000)
    } finally {
      vi.restoreAllMocks()
      vi.unstubAllGlobals()
      vi.unstubAllEnvs()
    }
  })

  it("reads the environment of this process where it is given none", () => {
    const before = process.env["LEASEHOLD_LOCK_TIMEOUT"]
    process.env["LEASEHOLD_LOCK_TIMEOUT"] = "7"
    try {
      expect(waitBudget().timeout).toBe(7000)
      expect(waitBudget(nothing).timeout).toBe(600_000)
    } finally {
      if (before === undefined) delete process.env["LEASEHOLD_LOCK_TIMEOUT"]
      else process.env["LEASEHOLD_LOCK_TIMEOUT"] = before
    }
  })
})

describe("the timeout of an acquire with such a budget", () => {
  // Tests waits: A timeout says how long it waited, the limit, its source and how to change it there.
  it("says how long it waited, the limit, where that came from, and how to change it there", async () => {
    const cases: readonly [WaitBudgetOptions, string, string][] = [
      [{ flag: "2" }, "--lock-timeout 2", 'Pass --lock-timeout with more seconds, or with "infinite"'],
      [
        { environment: { LEASEHOLD_LOCK_TIMEOUT: "2s" } },
        "LEASEHOLD_LOCK_TIMEOUT=2s",
        "Set LEASEHOLD_LOCK_TIMEOUT to more seconds, or pass --lock-timeout",
      ],
      [
        { configuration: { locking: { timeout: 2 } }, names: { configuration: "leasehold.json" } },
        "locking.timeout in leasehold.json",
        "Raise locking.timeout in leasehold.json, set LEASEHOLD_LOCK_TIMEOUT or pass --lock-timeout",
      ],
      [
        { scope: "cache", scopes: { cache: "2 s" } },
        "the default of scope cache",
        "Pass --lock-timeout, set LEASEHOLD_LOCK_TIMEOUT, or give scope cache a longer default",
      ],
    ]
    for (const [options, source, change] of cases) {
      const { time, lock } = lockWorld()
      await time.runUntil(lock("a").acquire())
      const call = lock("b").acquire({ ...waitBudget({ ...nothing, ...options }) })
      const error = await time.runUntil(failure<LockTimeoutError>(call))
      expect(error).toMatchObject({ _tag: "LockTimeoutError", limitMs: 2000, source, next: change })
      expect(error.waitedMs).toBeGreaterThanOrEqual(2000)
      expect(error.waitedMs).toBeLessThanOrEqual(2010)
      expect(error.message).toContain(`ms of 2000 ms (${source}). ${change}.`)
    }
  })

  // Tests waits: A timeout tells of a queue only where an earlier call was first; a budget of 0 is one try.
  it.each([
    [{ flag: 0 }, "--lock-timeout 0"],
    [{ environment: { LEASEHOLD_LOCK_TIMEOUT: "0 s" } }, "LEASEHOLD_LOCK_TIMEOUT=0 s"],
    [{ configuration: { locking: { timeout: 0 } } }, "locking.timeout in the configuration"],
    [{ scope: "now", scopes: { now: 0 } }, "the default of scope now"],
  ])("of 0 is told as one try, wherever it came from: %j", async (options: WaitBudgetOptions, source) => {
    const { time, lock } = lockWorld()
    await time.runUntil(lock("a").acquire())
    const call = lock("b").acquire({ ...waitBudget({ ...nothing, ...options }) })
    const error = await time.runUntil(failure<LockTimeoutError>(call))
    expect(error).toMatchObject({ limitMs: 0, source })
    expect(error.message).toContain(`"orders/7" is held by "a"; waited 0 ms in one try (${source}). `)
  })

  it("says so of the 600 s that nobody chose, too", async () => {
    const { time, lock } = lockWorld()
    await time.runUntil(lock("a").acquire())
    const error = await time.runUntil(failure<LockTimeoutError>(lock("b").acquire(waitBudget(nothing))))
    expect(error).toMatchObject({ limitMs: 600_000, source: "the default of 600 s" })
    expect(error.next).toBe(
      "Pass --lock-timeout, or set LEASEHOLD_LOCK_TIMEOUT or locking.timeout in the configuration",
    )
  })

  it("is not to come where the budget is infinite", async () => {
    const { time, lock } = lockWorld()
    const held = await time.runUntil(lock("a").acquire())
    const waits = lock("b").acquire(waitBudget({ ...nothing, flag: "infinite" }))
    await time.advance(3_600_000)
    await time.runUntil(held.release())
    expect((await time.runUntil(waits)).isHeld()).toBe(true)
  })

  it("comes without any wait where the budget is 0", async () => {
    const { time, lock } = lockWorld()
    await time.runUntil(lock("a").acquire())
    const error = await time.runUntil(
      failure<LockTimeoutError>(lock("b").acquire(waitBudget({ ...nothing, flag: "0" }))),
    )
    expect(error).toMatchObject({ limitMs: 0, waitedMs: 0, source: "--lock-timeout 0" })
  })
})
