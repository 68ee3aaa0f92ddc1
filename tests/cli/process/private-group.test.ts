/** Which groups are a user's alone, by the files of a system. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { isPrivate } from "../../../src/cli/process/private-group.ts"

function system(passwd: string, group: string): string {
  const etc = mkdtempSync(join(tmpdir(), "leasehold-etc-"))
  onTestFinished(() => rmSync(etc, { recursive: true }))
  writeFileSync(join(etc, "passwd"), passwd)
  writeFileSync(join(etc, "group"), group)
  return etc
}

const users =
  "root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\nzed:x:1001:1002::/home/zed:/bin/sh\n"

// Tests command: A group is a user's own where number or name is the user's, and nobody else is listed.
it("a group that has the user's number, or name, is private", () => {
  const etc = system(users, "root:x:0:root\nalice:x:1000:\nlocks:x:1001:\nzed:x:1002:zed\nusers:x:100:\n")
  expect(isPrivate(0, 0, etc)).toBe(true)
  expect(isPrivate(1000, 1000, etc)).toBe(true)
  expect(isPrivate(1002, 1001, etc)).toBe(true)
  expect(isPrivate(1000, 1001, etc)).toBe(false)
  expect(isPrivate(100, 1001, etc)).toBe(false)
  expect(isPrivate(4711, 1001, etc)).toBe(false)
})

it("a group that lists anybody else is not, whatever its number and name", () => {
  const etc = system(users, "alice:x:1000:www-data\nzed:x:1002:zed,alice\n")
  expect(isPrivate(1000, 1000, etc)).toBe(false)
  expect(isPrivate(1002, 1001, etc)).toBe(false)
})

it("of a user whom no file names its number decides", () => {
  expect(isPrivate(4711, 4711, system(users, ""))).toBe(true)
  expect(isPrivate(4711, 4711, "/nowhere")).toBe(true)
  expect(isPrivate(4711, 4712, system("", ""))).toBe(false)
})
