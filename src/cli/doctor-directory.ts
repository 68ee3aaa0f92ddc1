/** What `leasehold doctor` says of a directory: who may write there, and what file system it is on. */
import { statfsSync, statSync } from "node:fs"
import type { Finding } from "./doctor.ts"

/** Of statfs(2), those that are on other machines. */
const NETWORK: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0xff534d42: "CIFS",
  0xfe534d42: "SMB2",
  0x517b: "SMB",
  0x65735546: "FUSE",
  0x01021997: "9P",
  0xc36400: "Ceph",
  0x5346414f: "AFS",
}

/** What of statfs(2) is looked at. */
export type Statfs = (path: string) => { readonly type: number }

/** Of a directory that is there. */
export function directoryFindings(directory: string, statfs: Statfs = statfsSync): readonly Finding[] {
  return [permissions(directory), fileSystem(statfs(directory))]
}

function permissions(directory: string): Finding {
  const mode = statSync(directory).mode & 0o777
  const text = mode.toString(8).padStart(3, "0")
  if ((mode & 0o002) === 0) return { check: "permissions", status: "ok", found: `mode ${text}` }
  return {
    check: "permissions",
    status: "warning",
    found: `mode ${text}: every user of this machine can take, break and delete locks there`,
    remedy: `chmod o-w ${directory}`,
  }
}

function fileSystem({ type }: ReturnType<Statfs>): Finding {
  const network = NETWORK[type]
  if (network === undefined) return { check: "file system", status: "ok", found: "local" }
  return {
    check: "file system",
    status: "warning",
    found: `${network}: owners on other machines are judged by watching their records for a ttl, and waiters look instead of being woken`,
    remedy: "Use a bucket for locks between machines where that is too slow",
  }
}
