/**
 * `leasehold doctor`: whether the store is fit for leases, and which of its settings cost money, safety or sleep. Each
 * finding says what to do. The doctor changes only the probe's scratch objects, and what a bucket remembers of the
 * probe.
 */
import { statSync } from "node:fs"
import { LockError } from "../../../locks/api/errors.ts"
import { printable } from "../../../locks/printable.ts"
import type { LeaseStore } from "../../../locks/stores/port.ts"
import { withinStart } from "../../../locks/stores/start.ts"
import { advice, happened } from "../../errors/advice.ts"
import { EXIT } from "../../errors/exit-codes.ts"
import type { Styles } from "../../frame/output.ts"
import type { Call, CommandAction } from "../../frame/syntax.ts"
import { findConfig } from "../../stores/config.ts"
import { textOption } from "../../stores/session.ts"
import { type StoreName, storeOf } from "../../stores/stores.ts"
import { bucketFindings } from "./bucket.ts"
import { clockFindings } from "./clock.ts"
import { directoryFindings } from "./directory.ts"
import type { Finding } from "./finding.ts"

export const doctor: CommandAction = async (call) => {
  const found = findConfig(call.io, textOption(call.options, "config"))
  const { name, store } = await storeOf(call.io, textOption(call.options, "store"), found)
  try {
    const findings = [configuration(found.file), ...(await examine(call, name, store))]
    call.output.result({ store: store.name, findings }, (styles) => listed(store.name, findings, styles))
    return findings.some(({ status }) => status === "problem") ? EXIT.storeMisconfigured : EXIT.ok
  } finally {
    await store.close()
  }
}

async function examine(call: Call, name: StoreName, store: LeaseStore): Promise<readonly Finding[]> {
  const probe = await probed(store, call)
  const ready = probe.status === "ok"
  return [
    probe,
    ...(ready ? [deletes(store), ...(await clockFindings(store, call.io.clock))] : []),
    ...(name.kind === "gs" ? await bucketFindings(name, call.io.clock) : []),
    ...(name.kind === "file" && isDirectory(name.directory) ? directoryFindings(name.directory) : []),
  ]
}

/** Whether the directory is there. It is examined also if its probe failed, since the findings may tell why. */
const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

const configuration = (file: string | undefined): Finding => ({
  check: "configuration",
  status: "ok",
  found: file ?? "none; everything is as it comes",
})

/** Runs the start-up probe (create twice, stale put, stale delete), also if the store remembers one that passed. */
async function probed(store: LeaseStore, { io }: Call): Promise<Finding> {
  try {
    await withinStart(store, io.clock, (deadline) => store.start({ deadline, probe: "again" }))
    return { check: "probe", status: "ok", found: "writes are taken and refused as their preconditions say" }
  } catch (error) {
    if (!(error instanceof LockError)) throw error
    return { check: "probe", status: "problem", found: happened(error), remedy: advice(error) }
  }
}

function deletes({ capabilities }: LeaseStore): Finding {
  if (capabilities.deletes) return { check: "deletes", status: "ok", found: "deletes honour their preconditions" }
  return {
    check: "deletes",
    status: "warning",
    found: "deletes ignore their preconditions, so no record is ever deleted",
    remedy: "Leave it so where this is an emulator; a real bucket honours them",
  }
}

const marks = { ok: "ok", warning: "warning", problem: "PROBLEM", unknown: "unknown" } as const

function listed(store: string, findings: readonly Finding[], styles: Styles): string {
  const color = { ok: styles.green, warning: styles.yellow, problem: styles.red, unknown: styles.dim }
  const lines = findings.map(({ check, status, found, remedy }) => {
    const line = `${color[status](marks[status].padEnd(8))}${check}: ${printable(found)}`
    return remedy === undefined ? line : `${line}\n        -> ${printable(remedy)}`
  })
  return [styles.bold(printable(store)), ...lines].join("\n")
}
