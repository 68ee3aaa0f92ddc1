/**
 * The three shell scripts of `run`. A shell starts in milliseconds, is everywhere, and can be in a session of its own.
 *
 * GATE becomes the command. It writes its process group to descriptor 3. There it reads the deadline, the tokens, and
 * then `go`. If the descriptor closes before that, the gate ends.
 *
 * KEEPER starts the gate in a process group of its own, waits for its end, and writes to descriptor 3 how it ended.
 * Runtimes can't tell: they take an end by a signal without a name, such as SIGRTMIN, for exit code 0.
 *
 * GUARDIAN outlives the wrapper (the process that runs the command), in a session of its own. It kills the command's
 * process group in two cases:
 *
 * - Its input ends: the wrapper has ended.
 * - The moment has passed that it was told last: the wrapper is stopped or cut off, and others may own the key soon.
 *
 * Moments are in hundredths of a second, by a clock that the guardian reads itself. So a moment gives no more time if
 * its sender was stopped before it arrived. The clock is `/proc/uptime` if there is one: it counts while the machine
 * sleeps. Before the guardian kills at a moment it reads its input to the end: if it was held up a later moment may
 * stand there.
 *
 * Not promised: anything if the guardian is killed too, before it acts.
 */
import { ALOOF, AS_GIVEN } from "./helper-shell.ts"

/** Arguments: the command. Moves standard error from descriptor 4 to 2: the keeper has its own messages at 2. */
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

/** The exit code of KEEPER once it has reported how the command ended. */
export const REPORTED = 3

/** Starts the shell that reads KEEPER with its own messages at descriptor 3, and standard error at 4. */
export const APART = 'exec 4>&2 2>&3 && exec "$@"'

/**
 * Arguments: two for AS_GIVEN; the soft limit of open files, or nothing; \`front\` on a terminal, else \`apart\`; the
 * gate's script; its arguments.
 *
 * Groups: a shell with job control makes the gate a process group. On a terminal it gives the group the foreground, and
 * takes that back in the end. Bash does so only if its standard error is the terminal. Without a terminal only bash has
 * job control. Without bash setsid(1) makes the group, and stops of the command are not seen.
 *
 * Stops: a stopped command would keep the key for ever, so it is continued.
 *
 * Ends: a status above 128 may be an exit code. If it was a signal, shells write so in words of their own, but not for
 * SIGPIPE and SIGINT. After SIGINT bash ends its script without a status, and other shells run a trap, to die as the
 * command did. If the terminal is closed the script of another shell ends, which still has the status then.
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
 * The number of a group that has ended may be given to another group. The guardian kills only the group that it was
 * told of. It knows that group by one of these, of which the last two come into play once both leaders have ended:
 *
 * - Its leader is the process that was seen at first.
 * - A member is in the session that was seen, whose leader is there yet: numbers in use are not given anew.
 * - A member's environment names the folder.
 * - A member had begun when the group was last known to be this one: so its number was never free since.
 *
 * Without /proc only the leader can be known.
 *
 * A shell that can't read with a timeout takes each read for the end of the input, so it can't be a guardian, and ends.
 * Some shells don't tell the end of the input from a timeout. Two reads in a row that fail before their time are the
 * end.
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
