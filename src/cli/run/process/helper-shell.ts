/**
 * The shell that reads the scripts of `run`: bash if the system has one, else /bin/sh. Bash and BusyBox can do two
 * things that not every /bin/sh can:
 *
 * - A read with a timeout, so that a guardian needs no further process.
 * - Descriptors above 9, which a script has to close.
 *
 * Job control without a terminal is bash's alone.
 *
 * Owns no script. The command's own shell is always /bin/sh.
 */
import { existsSync } from "node:fs"
import type { Environment } from "../../process/bytes.ts"

/** The system's places alone: a program that PATH finds first may be another user's. */
const PLACES = ["/bin/bash", "/usr/bin/bash"] as const

/**
 * The words before `-c`: an absolute path, and for bash options by which it reads no file of the user's. Without them
 * it would take a socket, as runtimes make pipes, for a remote login, and read ~/.bashrc. BASH_ENV could name a file
 * too.
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
