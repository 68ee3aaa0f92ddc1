/** What is known of processes: what has ended has for sure, and whatever can't be read lives. */
import { type ChildProcess, spawn } from "node:child_process"
import process from "node:process"
import { describe, expect, it, onTestFinished } from "vitest"
import { Processes, processes } from "../../../src/runtime/machine/processes.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { type Spawned, spawnScript } from "../../integration/support/spawn.ts"
import { FakeProc } from "../../support/fake-proc.ts"

function fake(...of: ConstructorParameters<typeof FakeProc>): FakeProc {
  const proc = new FakeProc(...of)
  onTestFinished(() => proc[Symbol.dispose]())
  return proc
}

/** A process that does nothing, in a process group of its own. */
async function child(): Promise<ChildProcess & { readonly pid: number }> {
  const started = spawn("sleep", ["60"], { detached: true, stdio: "ignore" })
  onTestFinished(() => void started.kill("SIGKILL"))
  await new Promise((resolve) => started.once("spawn", resolve))
  return started as ChildProcess & { readonly pid: number }
}

const firstLine = (one: Spawned): Promise<string> =>
  new Promise((resolve) => one.child.stdout!.once("data", (text: string) => resolve(text)))

const ended = (one: ChildProcess): Promise<unknown> => new Promise((resolve) => one.once("exit", resolve))

describe("this process", () => {
  it("is told apart by its start and the namespace of its pid", () => {
    expect(processes.self).toMatchObject({
      pid: process.pid,
      startedAt: expect.stringMatching(/^\d+$/),
      pidNs: expect.stringMatching(/^\d+$/),
    })
    expect(new Processes().self).toEqual(processes.self)
  })

  it("keeps a file open for as long as it lives", () => {
    expect(processes.life).toEqual(expect.any(Number))
    expect(processes.life).toBe(processes.life)
  })

  // Tests stores: A named process has ended only where every condition of the file store holds; each is needed.
  it("is not known where /proc is that of another namespace, or can't be read", () => {
    expect(fake("77", 4711).processes().self).toMatchObject({ startedAt: null, pidNs: null })
    expect(new Processes("/nowhere").self).toMatchObject({ startedAt: null, pidNs: null })
    expect(new Processes("/nowhere").life).toBeNull()
  })
})

describe("a process", () => {
  it("has ended where there is none of that pid", () => {
    const proc = fake()
    proc.signals.set(42, "ESRCH")
    expect(proc.processes().hasEnded(42, "5000")).toBe(true)
  })

  // Tests stores.
  it.each(["EPERM", "EACCES", "ENOSYS"])("lives where signal 0 says %s", (code) => {
    const proc = fake()
    proc.signals.set(42, code)
    expect(proc.processes().hasEnded(42, "5000")).toBe(false)
  })

  it("lives where its pid does, whoever has it by now, and where its status can't be read", () => {
    const proc = fake()
    proc.add(42)
    proc.add(43, { startedAt: "6000" })
    const known = proc.processes()
    expect([42, 43, 44].map((pid) => known.hasEnded(pid, "5000"))).toEqual([false, false, false])
  })

  it("has ended as a zombie without threads, if it is that very one", () => {
    const proc = fake()
    proc.add(42, { state: "Z" })
    proc.add(43, { state: "Z", threads: 2 })
    proc.add(44, { state: "Z", startedAt: "6000" })
    proc.add(45, { state: "D" })
    const known = proc.processes()
    expect([42, 43, 44, 45].map((pid) => known.hasEnded(pid, "5000"))).toEqual([true, false, false, false])
  })

  it.each([1, 0, -1, -42, 1.5, Number.NaN, "42"])("of pid %s is never said to have ended", (pid) => {
    const proc = fake()
    proc.signals.set(pid as number, "ESRCH")
    expect(proc.processes().hasEnded(pid as number, "5000")).toBe(false)
  })

  it("is not said to have ended by one that can't tell its own namespace", () => {
    const proc = fake("77", 4711)
    proc.signals.set(42, "ESRCH")
    expect(proc.processes().hasEnded(42, "5000")).toBe(false)
  })

  it("that is real has ended once it was killed, and not before", async () => {
    const { startedAt } = processes.self
    const one = await child()
    expect(processes.hasEnded(one.pid, startedAt!)).toBe(false)
    const end = ended(one)
    one.kill("SIGKILL")
    await end
    expect(processes.hasEnded(one.pid, startedAt!)).toBe(true)
  })
})

describe("a process group", () => {
  it("lives while signal 0 reaches it, or can't be sent, and has ended where there is none", () => {
    const proc = fake()
    proc.add(42)
    proc.signals.set(-43, "ESRCH")
    proc.signals.set(-44, "EPERM")
    const known = proc.processes()
    expect([42, 43, 44].map((group) => known.groupLives(group))).toEqual([true, false, true])
  })

  // Tests stores: A process group lives while one of its members does, or while that can't be told.
  it("lives while one of its members does, though its leader is gone", () => {
    const proc = fake()
    proc.add(42, { state: "Z" })
    proc.add(50, { group: 42 })
    expect(proc.processes().groupLives(42)).toBe(true)
    proc.add(50, { group: 42, state: "Z" })
    expect(proc.processes().groupLives(42)).toBe(false)
    proc.add(50, { group: 42, state: "Z", threads: 2 })
    expect(proc.processes().groupLives(42)).toBe(true)
  })

  it("of zombies is believed only where all of /proc can be seen", () => {
    const proc = fake()
    proc.add(42, { state: "Z" })
    for (const options of ["hidepid=2", "hidepid=invisible", "hidepid=ptraceable", "hidepid=1"]) {
      proc.mount(options)
      expect(proc.processes().groupLives(42)).toBe(true)
    }
    proc.mount("hidepid=0")
    expect(proc.processes().groupLives(42)).toBe(false)
    proc.hide(42)
    expect(proc.processes().groupLives(42)).toBe(true)
  })

  it.each([1, 0, -1, 1.5, "x", null])("of id %s counts as alive", (group) => {
    const proc = fake()
    proc.signals.set(-(group as number), "ESRCH")
    expect(proc.processes().groupLives(group as number)).toBe(true)
  })

  it("that is real lives as long as its process", async () => {
    const one = await child()
    expect(processes.groupLives(one.pid)).toBe(true)
    const end = ended(one)
    one.kill("SIGKILL")
    await end
    expect(processes.groupLives(one.pid)).toBe(false)
  })
})

describe("the end of a process", () => {
  it("wakes who waits for it, soon after it can be known", async () => {
    const script = new URL("../programs/lives.ts", import.meta.url)
    const one = spawnScript({ runtime: "Deno" in globalThis ? "deno" : "node", script })
    onTestFinished(() => void one.signal("SIGKILL"))
    const { pid, startedAt, life } = JSON.parse(await firstLine(one)) as {
      pid: number
      startedAt: string
      life: number
    }
    const woken = Promise.withResolvers<boolean>()
    using wait = processes.whenEnding(pid, startedAt, life, () => woken.resolve(processes.hasEnded(pid, startedAt)))
    expect(wait.hears).toBe(true)
    one.signal("SIGKILL")
    expect(await woken.promise).toBe(true)
    expect(wait.hears).toBe(false)
  })

  /** One that has let go of its files, and whose last thread is yet to go. */
  async function ending() {
    const proc = fake()
    proc.add(42, { state: "Z", threads: 2 })
    const close = proc.open(42, 3)
    const time = new VirtualTime()
    const seen = { looks: 0, wakes: 0 }
    const begun = Promise.withResolvers<void>()
    const known = proc.processes(time, () => (seen.looks++, begun.resolve()))
    const wait = known.whenEnding(42, "5000", 3, () => void seen.wakes++)
    onTestFinished(() => wait[Symbol.dispose]())
    close()
    await begun.promise
    return { proc, time, seen, wait }
  }

  // Tests stores: The end of a process wakes its waiters once, and not before its last thread is gone.
  it("wakes nobody before it, and once after it, however long its last thread takes", async () => {
    const { proc, time, seen } = await ending()
    await time.advance(60_000)
    expect(seen.wakes).toBe(0)
    proc.add(42, { state: "Z" })
    await time.advance(1000)
    expect(seen.wakes).toBe(1)
    const { looks } = seen
    await time.advance(60_000)
    expect(seen).toEqual({ looks, wakes: 1 })
  })

  it("is looked for no more by one that has left", async () => {
    const { proc, time, seen, wait } = await ending()
    wait[Symbol.dispose]()
    const { looks } = seen
    proc.add(42, { state: "Z" })
    await time.advance(60_000)
    expect(seen).toEqual({ looks, wakes: 0 })
  })

  it.each([
    [1, 3],
    [42.5, 3],
    [42, -1],
    ["x", "y"],
  ])("can't be waited for of pid %s by file %s", (pid, life) => {
    const wait = processes.whenEnding(pid as number, "1", life as number, () => {
      throw new Error("woken")
    })
    expect(wait.hears).toBe(false)
    expect(() => wait[Symbol.dispose]()).not.toThrow()
  })
})
