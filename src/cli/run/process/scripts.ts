/**
 * The three shell scripts of `run`. A shell starts in milliseconds, is everywhere, and can be in a session of its own.
 *
 * GATE becomes the command: it says its process group at descriptor 3, and waits there until it is told the deadline
 * and the tokens, then `go`. When that descriptor closes first, there is nothing to do.
 *
 * KEEPER starts the gate in a process group of its own, waits for what becomes of it, and says at descriptor 3 how that
 * ended. Runtimes can't: they take an end by a signal that they have no name for, such as SIGRTMIN, for exit code 0.
 *
 * GUARDIAN outlives whoever runs the command, in a session of its own, to kill the command's process group: at the end
 * of its input, since then the wrapper is gone; and when the moment has come that it was told last, since then the
 * wrapper is stopped or cut off, and others may own the key soon. Moments are hundredths of a second by a clock that it
 * reads itself: so that one which was sent long ago, by a process that was stopped in between, gives no time anew. The
 * clock is `/proc/uptime`, which counts while the machine sleeps, where there is one. Before a moment ends the group
 * the input is read to its end: a guardian that was held up may have a later one there.
 *
 * Not promised: anything when the guardian is killed too before it acts.
 */
import { ALOOF, AS_GIVEN } from "./helper-shell.ts"

/**
 * Arguments: the command. Standard error, at 4 before, is put in its place here: in its parent it would be for others,
 * too.
 */
export const GATE = `
exec 2>&4 4>&-
unset LEASEHOLD_TOKEN
echo "group $$" >&3
while IFS= read -r line <&3; do
  case $line in
  go) exec 3<&- && export LEASEHOLD_DEADLINE LEASEHOLD_TOKEN && exec "$@" ;;
  until*) LEASEHOLD_DEADLINE=\${line#until } ;;
  *) LEASEHOLD_TOKEN=\${LEASEHOLD_TOKEN:+$LEASEHOLD_TOKEN
}$line ;;
  esac
done
exit 77`

/** What KEEPER exits with once it has said how the command ended. */
export const REPORTED = 3

/**
 * Words before a shell that reads KEEPER: what it says itself goes to descriptor 3, and standard error is kept at 4.
 */
export const APART = 'exec 4>&2 2>&3 && exec "$@"'

/**
 * Arguments: two for AS_GIVEN; the soft limit of open files, or nothing; \`front\` on a terminal, else \`apart\`; the
 * gate's script; its arguments.
 *
 * A shell with job control makes the gate a process group, which it puts in front of a terminal where there is one, and
 * takes the terminal back in the end. Bash does so only with the terminal as its standard error. A command that is
 * stopped would keep the key for ever: whatever stops it, it is continued. Without a terminal only bash has job
 * control: where there is no bash setsid(1) makes the group, and nothing is known of stops.
 *
 * A status above 128 may be an exit code. Where it was a signal shells say so, in words of their own, but for SIGPIPE
 * and SIGINT. After the latter bash ends its script without a status, and others run a trap: they mean to die as the
 * command did. Where a terminal that is closed ends the script of another shell, that still has the status.
 */
export const KEEPER: string = `${AS_GIVEN}
[ -z "$1" ] || ulimit -S -n "$1"
leasehold_gate=$3
[ "$2" != front ] || [ -z "\${BASH_VERSION-}" ] || exec 2>/dev/tty
trap : HUP QUIT TERM USR1 USR2
trap leasehold_by=INT INT
trap '
  if [ -z "$leasehold_code\${BASH_VERSION-}" ]; then
    echo continued >&3
    wait %%
    leasehold_code=$?
  fi
  echo "ended \${leasehold_code:-\${BASH_VERSION:+130 INT}} $leasehold_by" >&3
  exit ${REPORTED}' EXIT
set -m
shift 3
case $- in *m*) leasehold_alone= ;; *) leasehold_alone=setsid ;; esac
leasehold_begun=
while [ -z "$leasehold_begun" ] || jobs %% >/dev/null 2>&1; do
  leasehold_code=
  if [ -n "$leasehold_begun" ]; then
    echo continued >&3
    fg %% >/dev/null
  else
    leasehold_begun=yes
    $leasehold_alone /bin/sh -c "$leasehold_gate" "$0" "$@"
  fi
  leasehold_code=$?
done`

/**
 * Arguments: \`boot\` or \`wall\`; a folder to remove once the wrapper is gone. Its input: first the process group,
 * which it says that it has seen; then moments; \`done\`. It starts no process while it watches: there may be no room
 * for one, and none can outlive it.
 *
 * The number of a group that has ended may be another's. What it kills is the group that it was told of: its leader is
 * the process that was seen, or it is in the session of that one, whose own leader is there yet: numbers in use are not
 * given anew. Once both are gone, what a command left in its group is known by its environment, which names the folder;
 * and a member that had begun when the group was last seen to be the one that is meant shows that the numbers were
 * never free. Without /proc only the leader can be known.
 *
 * A shell that can't read with a timeout would take each read for the end of the input: it is none for a guardian, and
 * ends. Some shells don't tell the end of the input from that of their patience: a read that failed before its time,
 * twice in a row, was at the end.
 */
export const GUARDIAN: string = `${ALOOF}
clock=$1 folder=$2 born= session= opened= due= meant= early=0
trap '' HUP INT QUIT TERM TSTP USR1 USR2
exec 2>/dev/null
[ -z "\${BASH_VERSION-}" ] || [ "$clock" = boot ] || SECONDS=$(date +%s)
look() {
  if [ "$clock" = boot ]; then
    read -r now rest </proc/uptime && now=\${now%.*}\${now#*.}
  elif [ -n "\${BASH_VERSION-}" ]; then
    now=\${SECONDS}00
  else
    now=$(date +%s)00
  fi
}
status() {
  state= of= in= start=
  if [ -r /proc/self/stat ]; then
    stat=
    while IFS= read -r line || [ -n "$line" ]; do stat=$stat$line; done <"/proc/$1/stat"
    set -- \${stat##*)}
    [ $# -lt 20 ] || { of=$3 in=$4 && shift 19 && start=$1; }
  else
    read -r of start <<END
$(ps -o pgid=,lstart= -p "$1")
END
  fi
}
namesFolder() {
  while IFS= read -r -d '' line; do
    case $line in "LEASEHOLD_LEASE_FILE=$folder/"*) return ;; esac
  done <"/proc/$1/environ"
  return 1
}
isOurs() {
  [ -n "$born" ] || return
  status "$group"
  [ "$of" = "$group" ] && [ "$start" = "$born" ] && return
  status "$session"
  anchored=
  [ -z "$start" ] || [ "$start" != "$opened" ] || anchored=yes
  for each in /proc/[0-9]*; do
    status "\${each#/proc/}"
    [ "$of" = "$group" ] && [ "$in" = "$session" ] || continue
    [ -z "$anchored" ] || return 0
    [ "$clock" = boot ] && [ "$start" -le "\${meant:-0}" ] && return
    namesFolder "\${each#/proc/}" && return
  done
  return 1
}
finish() {
  look
  isOurs && kill -s KILL -- "-$group"
}
IFS= read -r -t 1 line </dev/null
[ $? -eq 1 ] || exit 1
IFS= read -r group || exec rm -rf -- "$folder"
[ "$group" != done ] || exit 0
status "$group"
born=$start session=$in
[ -z "$session" ] || status "$session"
opened=$start
echo seen
while look && [ "$early" -lt 2 ]; do
  [ "$clock" != boot ] || { isOurs && meant=$now; }
  if [ -z "$due" ]; then
    IFS= read -r line || break
  elif [ "$now" -ge "$due" ]; then
    IFS= read -r -t 0.01 line || {
      finish
      due=
      continue
    }
  else
    left=$((due - now))
    [ "$left" -ge 5 ] || left=5
    [ "$left" -le 200 ] || left=200
    from=$now line=
    IFS= read -r -t "$((left / 100)).$((left / 10 % 10))$((left % 10))" line || {
      [ $? -le 128 ] && look && [ "$(((now - from) * 2))" -lt "$left" ] && early=$((early + 1)) || early=0
      continue
    }
  fi
  early=0
  [ "$line" != done ] || exit 0
  due=$line
done
finish
exec rm -rf -- "$folder"`
