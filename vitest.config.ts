// The test projects. `unit` needs nothing but this process, `processes` starts real workers on the file store, and
// `gcs` needs the real fake-gcs-server (or a bucket). Every one runs on Node and on Deno from the same files.
import { defineConfig, type ViteUserConfig } from "vitest/config"

const conditions = ["leasehold-source"]
const source = { resolve: { conditions }, ssr: { resolve: { conditions } } }

const config: ViteUserConfig = defineConfig({
  ...source,
  test: {
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["tests/**/*.test.ts"], exclude: ["tests/integration/**"] },
      },
      {
        extends: true,
        test: {
          name: "processes",
          include: ["tests/integration/**/*.test.ts"],
          exclude: ["tests/integration/**/gcs*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: "gcs",
          include: ["tests/integration/**/gcs*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
})

export default config
