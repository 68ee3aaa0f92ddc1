/**
 * What `run --json` says from its wait to the loss of its lease: every line of standard error is JSON, for a program to
 * read.
 */
import { expect, it } from "vitest"
import { says, Shell } from "./support/command.ts"

// Tests command: With `--json` every line of standard error is JSON, from the wait to the failure.
it("a run says as JSON that it waits, owns, is asked and has lost, and why it fails", async () => {
  const shell = new Shell()
  const holder = shell.start("run", "k", "--", "sh", "-c", "echo at work; sleep 1000")
  await says(holder, "at work")
  const work = 'exec 2>/dev/null; trap "exit 3" TERM; echo at work; while :; do sleep 0.1; done'
  const run = shell.start("run", "--json", "--ttl", "5min", "--on-request", "exec:true", "k", "--", "sh", "-c", work)
  await says(run, "waitStarted")
  const begun = says(run, "at work")
  holder.signal("SIGTERM")
  await begun
  const requested = says(run, '"requested"')
  const request = shell.start("request", "--for", "60", "k")
  await requested
  request.signal("SIGINT")
  expect(await request.ended).toMatchObject({ code: 77 })
  // Until the unlock nobody writes to the record: the lease is renewed after minutes.
  const { generation } = JSON.parse((await shell.call("status", "--json", "k")).stdout) as { generation: string }
  expect(await shell.call("unlock", "k", "--generation", generation)).toMatchObject({ code: 0 })
  const { code, stdout, stderr } = await run.ended
  expect({ code, stdout }).toEqual({ code: 79, stdout: "at work\n" })
  const lines = stderr.trimEnd().split("\n")
  const told = lines.map((line) => JSON.parse(line) as { event?: string })
  // A wait of more than 10 s, on a slow machine, is told of once more.
  expect(told.filter(({ event }) => event !== "progress")).toEqual([
    expect.objectContaining({ event: "waitStarted", key: "k", waitingFor: "holder" }),
    expect.objectContaining({ event: "acquired", key: "k" }),
    { event: "requested", message: expect.stringMatching(/ asks for the key$/) },
    { event: "lost", message: "the lease is lost: the command is told to end" },
    {
      ...{ error: "LockLostError", code: "LEASEHOLD_LOST", message: expect.stringContaining('"k"') },
      ...{ next: expect.stringMatching(/./), retryable: false, key: "k", exitCode: 79 },
    },
  ])
})
