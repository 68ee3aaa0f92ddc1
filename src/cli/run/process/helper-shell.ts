/**
 * The shell that `run` has its own scripts read: bash where the system has one, else /bin/sh. Two things are bash's and
 * busybox's, and not of every /bin/sh: a read with a timeout, so that a guardian needs no further process; and
 * descriptors above 9, which a script has to close. Job control without a terminal is bash's alone.
 *
 * Owns no script, and nothing of the command's own shell, which is /bin/sh always.
 */
import { existsSync } from "node:fs"
import type { Environment } from "../../process/bytes.ts"

/** The system's places alone: what a PATH names first may be anybody's. */
const PLACES = ["/bin/bash", "/usr/bin/bash"] as const

/**
 * The words before `-c`: an absolute path, and for bash that it reads no file of the user's. It takes a socket, as
 * runtimes make pipes, for a remote login, and would read ~/.bashrc; and an environment may name BASH_ENV, or options.
 */
export function helperShell(): readonly [string, ...string[]] {
  const bash = PLACES.find((path) => existsSync(path))
  return bash === undefined ? ["/bin/sh"] : [bash, "--norc", "-p"]
}

/**
 * Lines of sh that close what the caller had open beyond 0 to 4: neither a helper nor the command keeps a lock or a
 * pipe of the caller's. Runtimes mark some of these descriptors themselves, and not those from 17 on. A shell that
 * knows no descriptors above 9 would take such a number for a command's name, so it is asked first.
 */
export const CLOSE_OTHERS = `
if [ -n "\${BASH_VERSION-}" ] || (eval 'exec 17>&-') 2>/dev/null; then
  for leasehold_fd in /dev/fd/*; do
    leasehold_fd=\${leasehold_fd##*/}
    case $leasehold_fd in
    [0-4] | *[!0-9]*) ;;
    *) eval "exec $leasehold_fd>&-" ;;
    esac
  done
fi`

/**
 * Lines of sh for a shell that hands its environment on: SHLVL and OLDPWD, which bash changes, as its first two
 * arguments have them (`givenTo`), and without these arguments.
 */
export const AS_GIVEN = `
case $1 in =*) export SHLVL="\${1#=}" ;; *) unset SHLVL ;; esac
case $2 in =*) export OLDPWD="\${2#=}" ;; *) unset OLDPWD ;; esac
shift 2`

/** The arguments for that, for what is to have this environment. */
export const givenTo = (env: Environment): readonly string[] =>
  [env["SHLVL"], env["OLDPWD"]].map((value) => (value === undefined ? "" : `=${value}`))

/** Lines of sh for what runs beside a command: it keeps no folder of the caller's busy either. */
export const ALOOF: string = `cd /\nexec 3>&- 4>&-${CLOSE_OTHERS}`
