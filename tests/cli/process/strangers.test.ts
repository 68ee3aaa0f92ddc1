/** Who could have written a path beside this user and root. What takes another owner runs as root alone. */
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { lookAt, makePrivate } from "../../../src/cli/process/strangers.ts"

const [user, group] = [process.geteuid!(), process.getegid!()]
const isRoot = user === 0
/** Somebody else, and a group that is nobody's own. */
const OTHER = 4711

const strangerOf = (path: string): object | undefined => lookAt(path).stranger

let base = ""
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "leasehold-strangers-")))
  const made = base
  onTestFinished(() => rmSync(made, { recursive: true }))
})

/** A directory or file below the base with these rights, made with those above it. */
function at(path: string, mode: number, { uid = user, gid = group, file = false } = {}): string {
  const whole = join(base, path)
  if (file) writeFileSync(whole, "")
  else mkdirSync(whole, { recursive: true })
  if (uid !== user || gid !== group) lchownSync(whole, uid, gid)
  chmodSync(whole, mode)
  return whole
}

describe("a path", () => {
  // Tests command: A path has a stranger where anybody but this user and root could write it or its way.
  it("is this user's own where nobody else may write it, or anything on the way to it", () => {
    at("a/b", 0o755)
    expect(strangerOf(at("a/b/file", 0o644, { file: true }))).toBeUndefined()
    expect(strangerOf(join(base, "a/missing/below"))).toBeUndefined()
  })

  it("has a stranger in everybody who may write it, or a directory on the way", () => {
    const open = at("open", 0o757)
    const why = "everybody may write it"
    expect(strangerOf(open)).toMatchObject({ at: open, by: "permission", why, remedy: `chmod o-w ${open}` })
    expect(strangerOf(at("open/file", 0o644, { file: true }))).toMatchObject({ at: open, why })
    expect(strangerOf(join(open, "missing"))).toMatchObject({ at: open, why })
  })

  it("has none in a directory with the sticky bit on the way: what is there nobody can replace", () => {
    const sticky = at("sticky", 0o1777)
    expect(strangerOf(at("sticky/file", 0o644, { file: true }))).toBeUndefined()
    expect(strangerOf(sticky)).toMatchObject({ at: sticky, why: "everybody may write it" })
  })

  it("is judged by what its links lead over, and each link by its owner", () => {
    const target = at("open/target", 0o755)
    const open = at("open", 0o777)
    symlinkSync("up/../open/target", join(base, "link"))
    symlinkSync("..", join(at("a", 0o755), "up"))
    symlinkSync("a/up", join(base, "up"))
    symlinkSync("loop", join(base, "loop"))
    expect(strangerOf(join(base, "link"))).toBeUndefined() // ".." of where `up` leads, and there is no `open`
    rmSync(join(base, "link"))
    symlinkSync("a/up/open/target", join(base, "link"))
    expect(strangerOf(join(base, "link"))).toMatchObject({ at: open })
    chmodSync(open, 0o755)
    expect(strangerOf(join(base, "link"))).toBeUndefined()
    expect(strangerOf(target)).toBeUndefined()
    expect(strangerOf(join(base, "loop"))).toBeUndefined()
  })

  it("ends at a file on the way, which has nothing below it", () => {
    at("open", 0o666, { file: true })
    expect(lookAt(join(base, "open/below"))).toEqual({ isThere: false, stranger: undefined })
    expect(lookAt("/dev/null/below/deep")).toEqual({ isThere: false, stranger: undefined })
  })

  it.runIf(isRoot)("has an owner among its strangers, whatever others may write before (as root)", () => {
    const open = at("open", 0o777)
    const theirs = at("open/theirs", 0o755, { uid: OTHER })
    expect(lookAt(theirs).stranger).toMatchObject({ at: open, by: "permission" })
    expect(lookAt(theirs, "owner").stranger).toMatchObject({ at: theirs, by: "owner" })
    expect(lookAt(open, "owner").stranger).toBeUndefined()
  })

  it.runIf(isRoot)("has a stranger in another owner, of a link too (as root)", () => {
    const theirs = at("theirs", 0o700, { uid: OTHER })
    const stranger = { at: theirs, by: "owner", why: `uid ${OTHER} owns it`, remedy: `chown 0 ${theirs}` }
    expect(strangerOf(theirs)).toEqual(stranger)
    expect(strangerOf(at("theirs/file", 0o600, { file: true }))).toEqual(stranger)
    const link = join(at("sticky", 0o1777), "link")
    symlinkSync(at("mine", 0o600, { file: true }), link)
    expect(strangerOf(link)).toBeUndefined()
    lchownSync(link, OTHER, OTHER)
    expect(strangerOf(link)).toMatchObject({ at: link, by: "owner" })
  })

  it.runIf(isRoot)("has a stranger in each group but the user's private one (as root)", () => {
    expect(strangerOf(at("own", 0o770))).toBeUndefined()
    const shared = at("shared", 0o770, { gid: OTHER })
    expect(strangerOf(shared)).toMatchObject({ at: shared, by: "permission", why: `group ${OTHER} may write it` })
  })

  it.runIf(isRoot)("of another user may be root's, and only its private group's (as root)", () => {
    const [whole, theirs] = [at("x", 0o755), at("x/theirs", 0o775, { uid: OTHER, gid: OTHER })]
    const roots = at("x/roots", 0o775)
    chmodSync(base, 0o755)
    process.setegid!(OTHER)
    process.seteuid!(OTHER)
    onTestFinished(() => {
      process.seteuid!(0)
      process.setegid!(0)
    })
    expect(strangerOf(whole)).toBeUndefined()
    expect(strangerOf(theirs)).toBeUndefined()
    expect(strangerOf(roots)).toMatchObject({ at: roots, why: "group 0 may write it" })
  })
})

describe("a directory that is to be private", () => {
  // Tests command.
  it("is made with all above it, for its user alone, and taken as it is where it is there", () => {
    const directory = join(base, "a/b/c")
    expect(makePrivate(directory)).toBeUndefined()
    for (const each of ["a", "a/b", "a/b/c"]) expect(lstatSync(join(base, each)).mode & 0o777).toBe(0o700)
    expect(makePrivate(directory)).toBeUndefined()
  })

  it("is not made where another may write", () => {
    const open = at("open", 0o777)
    expect(makePrivate(join(open, "a/b"))).toMatchObject({ at: open })
    expect(lstatSync(join(open, "a"), { throwIfNoEntry: false })).toBeUndefined()
  })
})
