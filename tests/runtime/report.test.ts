import { afterEach, expect, it, vi } from "vitest"
import { reporter } from "../../src/runtime/report.ts"

afterEach(() => void vi.restoreAllMocks())

it("an error goes to the given handler alone", () => {
  const toConsole = vi.spyOn(console, "error").mockImplementation(() => {})
  const errors: unknown[] = []
  reporter((error) => void errors.push(error))("lost")
  expect(errors).toEqual(["lost"])
  expect(toConsole).not.toHaveBeenCalled()
})

it("without a handler, and when the handler throws, errors go to standard error and nothing is thrown", () => {
  const toConsole = vi.spyOn(console, "error").mockImplementation(() => {})
  reporter()("unhandled")
  reporter(() => {
    throw new Error("of the handler")
  })("mishandled")
  expect(toConsole.mock.calls.map(([, error]) => String(error))).toEqual([
    "unhandled",
    "mishandled",
    "Error: of the handler",
  ])
})
