// The test projects. `unit` and `simulations` need nothing but this process, `processes` starts real workers on the file store,
// and `gcs` needs the real fake-gcs-server (or a bucket). Every one runs on Node and on Deno from the same files; `crowds` has
// processes of both runtimes in each of its tests; `browser` needs Chromium. Tests of
// types alone live in tests/types and are checked by `npm run check`.
import { availableParallelism } from "node:os"
import process from "node:process"
import { defineConfig, type ViteUserConfig } from "vitest/config"

const commandSetup = "tests/integration/support/command-global-setup.ts"

const gcsSetup = "tests/integration/support/gcs-global-setup.ts"
const crowds = "tests/integration/crowds.test.ts"
const browser = "tests/browser/**/*.test.ts"

const conditions = ["leasehold-source"]

/** More than there are cores: tests with processes of their own mostly wait for them, for leases and for servers. */
const workers = 2 * availableParallelism()

/** They trap time and chance for the whole process, so none shares one with tests that go by real time. */
const simulations = ["tests/testing/{check,invariants,simulate}/**/*.test.ts"]

/** Where .ci/run collects one JSON report a run; each has its own name, as one command may run vitest twice. */
const reports = process.env["LEASEHOLD_TEST_REPORTS"]
const jsonReport: ["json", { outputFile: string }] = ["json", { outputFile: `${reports}/${process.pid}.json` }]

const config: ViteUserConfig = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // A guard against hangs, no measure of speed: a busy machine takes its time. A test has its own only where it needs more.
    testTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 240_000,
    maxWorkers: workers,
    reporters: reports === undefined ? ["default"] : ["default", jsonReport],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/integration/**", browser, ...simulations],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "simulations",
          include: simulations,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "processes",
          include: ["tests/integration/**/*.test.ts"],
          exclude: ["tests/integration/**/gcs*.test.ts", crowds],
          globalSetup: [commandSetup],
        },
      },
      {
        extends: true,
        test: {
          name: "gcs",
          include: ["tests/integration/**/gcs*.test.ts"],
          globalSetup: [commandSetup, gcsSetup],
        },
      },
      {
        extends: true,
        test: { name: "browser", include: [browser], fileParallelism: false },
      },
      {
        extends: true,
        test: { name: "crowds", include: [crowds], globalSetup: [gcsSetup] },
      },
    ],
  },
})

export default config
