// What the project forbids, beyond bugs: time and randomness that cannot be replayed, and a second way into a library. It is
// written as code because an override replaces a rule's options instead of adding to them: the bans are named once here,
// and each override lists all that hold there. Which folder of src may import which the house check says (scripts/house.ts). tests/ground/lint.test.ts shows that each ban refuses what it should.
import { defineConfig, type OxlintConfig, type OxlintOverride } from "oxlint"

type ImportBan = {
  group?: string[]
  regex?: string
  importNames?: string[]
  allowImportNames?: string[]
  message: string
}

const clock = "Take it from the clock (src/runtime/time/clock.ts), so that a run can be replayed."

const libraryBans: ImportBan[] = [
  { regex: "^effect$", message: "Import the module itself, such as effect/Effect: the barrel loads all of Effect." },
  { regex: "^rxjs/internal", message: "Import from rxjs: its internal folders are not its API." },
]

const timeBans: ImportBan[] = [
  { regex: "^(node:)?(timers|perf_hooks)(/|$)", message: clock },
  {
    regex: "^(node:)?crypto$",
    allowImportNames: ["createHash", "Hash"],
    message: `Only hashing is the same in each run. ${clock}`,
  },
  { regex: "^(node:)?process$", importNames: ["hrtime", "uptime"], message: clock },
]

const rxjsTimeBan: ImportBan = {
  regex: "^rxjs$",
  importNames: (
    "interval timer delay delayWhen debounceTime throttleTime auditTime sampleTime bufferTime windowTime " +
    "timeout timeoutWith timestamp timeInterval asyncScheduler asapScheduler animationFrameScheduler"
  ).split(" "),
  message: `RxJS waits on timers of its own. ${clock}`,
}

const gcsBan: ImportBan = {
  regex: "^(@google-cloud/storage|google-auth-library|undici)(/|$)",
  message: "Only src/locks/stores/gcs loads these: whoever does not use GCS should not pay for them.",
}

const selfBan: ImportBan = {
  regex: "^leasehold(/|$)|^(\\.\\./)+mod\\.ts$",
  message: "Inside src, import the file itself: an entry point would make a circle.",
}

const sourceBan: ImportBan = {
  regex: "(^|/)\\.\\./src/",
  message: "Examples import leasehold by its name, as its users do.",
}

type Rules = NonNullable<OxlintOverride["rules"]>

function imports(...patterns: ImportBan[]): Rules {
  return { "no-restricted-imports": ["error", { patterns }] }
}

/** Globals that differ from run to run, and those that only Node has. */
const globalBans = {
  "no-restricted-globals": [
    "error",
    {
      globals: [
        ...["Date", "performance", "crypto", "setTimeout", "setInterval", "setImmediate"].map((name) => ({
          name,
          message: clock,
        })),
        ...["process", "Buffer"].map((name) => ({ name, message: `Import it from node:${name.toLowerCase()}.` })),
      ],
      checkGlobalObject: true,
    },
  ],
  "no-restricted-properties": [
    "error",
    { object: "Math", property: "random", message: clock },
    { object: "AbortSignal", property: "timeout", message: clock },
    { object: "process", property: "hrtime", message: clock },
    { object: "process", property: "uptime", message: clock },
  ],
} satisfies Rules

const sourceRules: OxlintOverride = {
  files: ["src/**"],
  rules: {
    ...globalBans,
    "no-console": "error",
    "max-lines": ["error", { max: 400 }],
    "max-lines-per-function": ["error", { max: 60 }],
    ...imports(...libraryBans, ...timeBans, rxjsTimeBan, gcsBan, selfBan),
  },
}

/** RxJS on a Clock is made here. */
const runtimeRules: OxlintOverride = {
  files: ["src/runtime/**"],
  rules: imports(...libraryBans, ...timeBans, gcsBan, selfBan),
}

const gcsRules: OxlintOverride = {
  files: ["src/locks/stores/gcs/**"],
  rules: imports(...libraryBans, ...timeBans, rxjsTimeBan, selfBan),
}

/** The files that may look at real time and real randomness: two of the runtime, and one each of page and client. */
const clockRules: OxlintOverride = {
  files: [
    "src/runtime/time/clock.ts",
    "src/runtime/time/virtual-time.ts",
    "src/inspector/page/look/clock.ts",
    "src/client/clock.ts",
  ],
  rules: {
    "no-restricted-globals": "off",
    "no-restricted-properties": "off",
    ...imports(...libraryBans, gcsBan, selfBan),
  },
}

/** The live page runs in a browser. */
const pageRules: OxlintOverride = {
  files: ["src/inspector/page/**"],
  rules: imports(...libraryBans, ...timeBans, rxjsTimeBan, gcsBan, selfBan, {
    regex: "^(node:|xstate|effect|rxjs|elkjs)",
    message: "A browser has no such module, and the page stays small.",
  }),
}

/** Where a person reads the output: the last resort for errors that nobody handles, and the command. */
const consoleRules: OxlintOverride = {
  files: ["src/runtime/report.ts", "src/cli/**"],
  rules: { "no-console": "off" },
}

const testRules: OxlintOverride = {
  files: ["tests/**"],
  plugins: ["vitest"],
  rules: {
    "vitest/no-focused-tests": "error",
    "vitest/no-disabled-tests": "error",
    "vitest/expect-expect": "error",
    "vitest/no-standalone-expect": ["error", { additionalTestBlockFunctions: ["it.effect"] }],
    "vitest/no-commented-out-tests": "error",
  },
}

const config: OxlintConfig = defineConfig({
  options: { typeAware: true, reportUnusedDisableDirectives: "error" },
  plugins: ["typescript", "unicorn", "oxc", "import", "node", "promise"],
  ignorePatterns: ["dist", "node_modules"],
  categories: { correctness: "error" },
  rules: {
    eqeqeq: ["error", "always", { null: "ignore" }],
    "no-shadow": "error",
    "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    "no-var": "error",
    "prefer-const": "error",
    "preserve-caught-error": "error",
    "import/no-cycle": "error",
    "import/no-self-import": "error",
    "typescript/await-thenable": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/no-unnecessary-type-assertion": "error",
    "typescript/only-throw-error": "error",
    "typescript/prefer-promise-reject-errors": "error",
    "typescript/return-await": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "unicorn/prefer-node-protocol": "error",
    // Two that are wrong here: a copy of a Set is walked because the walk changes the Set, and a parameter that only some
    // overloads leave out needs its default.
    "unicorn/no-useless-spread": "off",
    "typescript/no-useless-default-assignment": "off",
    ...imports(...libraryBans),
  },
  overrides: [
    sourceRules,
    runtimeRules,
    gcsRules,
    pageRules,
    clockRules,
    consoleRules,
    testRules,
    { files: ["examples/**"], rules: imports(...libraryBans, sourceBan) },
  ],
})

export default config
