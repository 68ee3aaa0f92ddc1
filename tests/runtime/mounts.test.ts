import { readFileSync } from "node:fs"
import process from "node:process"
import { describe, expect, it } from "vitest"
import { fileSystemOf } from "../../src/runtime/mounts.ts"

const mounts = [
  "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda rw",
  "23 22 0:21 / /proc rw,nosuid - proc proc rw",
  "24 23 0:40 /proc/uptime /proc/uptime rw,nosuid master:3 - fuse.lxcfs lxcfs rw,user_id=0",
  "25 22 0:41 / /srv/with\\040space rw - tmpfs tmpfs rw",
  "26 22 0:42 / /srv rw - xfs /dev/vdb rw",
  "27 22 0:43 / /srv rw - nfs4 host:/ rw",
  "",
].join("\n")

describe("the file system of a path", () => {
  // Tests rule 3: A boot clock of another time namespace, or a made-up one, isn't this one.
  it.each([
    ["/proc/self/stat", "proc"],
    ["/proc/uptime", "fuse.lxcfs"],
    ["/proc/uptimes", "proc"],
    ["/process", "ext4"],
    ["/srv/with space/x", "tmpfs"],
    ["/srv/x", "nfs4"], // mounted over the other
  ])("of %s is %s, the mount that is nearest to it", (path, type) => {
    expect(fileSystemOf(mounts, path)).toBe(type)
  })

  it("is unknown where nothing is listed, or nothing that can be read", () => {
    expect(fileSystemOf("", "/proc")).toBeUndefined()
    expect(fileSystemOf("what is this", "/proc")).toBeUndefined()
  })

  it.runIf(process.platform === "linux")("is proc where the kernel's is mounted", () => {
    expect(fileSystemOf(readFileSync("/proc/self/mountinfo", "utf8"), "/proc/self/stat")).toBe("proc")
  })
})
