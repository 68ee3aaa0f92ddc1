/**
 * The two shell scripts of `run`. A shell starts in a millisecond, is everywhere, and can be in a session of its own.
 *
 * GATE becomes the command: it waits at descriptor 3 until it is told the deadline and the tokens, then `go`. When that
 * descriptor closes first, there is nothing to do.
 *
 * GUARDIAN outlives whoever runs the command, in a session of its own, to kill the command's process group: at the end of its
 * input, since then the wrapper is gone; and when the moment has come that it was told last, since then the wrapper is
 * stopped or cut off, and others may own the key soon. Moments are hundredths of a second by a clock that it reads itself: so
 * that one which was sent long ago, by a process that was stopped in between, gives no time anew. By `/proc/uptime`, which
 * counts while the machine sleeps, where there is one.
 *
 * However a watch ends, the guardian ends with it, which its wrapper hears of: also where there is no `sleep`, or no room for one.
 *
 * Not promised: anything when the guardian is killed too before it acts.
 */

/** Told its process id, for where the shell that starts it is not its group's leader. */
const GATE_BODY = `
echo $$ >&3
while IFS= read -r line <&3; do
  case $line in
  go) exec 3<&- && export LEASEHOLD_DEADLINE LEASEHOLD_TOKEN && exec "$@" ;;
  until*) LEASEHOLD_DEADLINE=\${line#until } ;;
  *) LEASEHOLD_TOKEN=\${LEASEHOLD_TOKEN:+$LEASEHOLD_TOKEN
}$line ;;
  esac
done
exit 77`

/** \`$0\`: what messages begin with; the arguments: the command. */
export const GATE: string = `unset LEASEHOLD_TOKEN${GATE_BODY}`

/**
 * The same for a terminal's foreground: a shell with job control makes the gate a process group in front, so that the command
 * can ask for passwords and hears Ctrl-C, and takes the terminal back when it ends. A command that is stopped would keep the
 * key for ever: Ctrl-Z is not for it, and whatever else stops it, it is continued. Of a command that Ctrl-C ended the shell dies
 * too, if it has no trap, with the terminal in its hands.
 */
export const FOREGROUND: string = `
trap : INT
set -m
gate=$1
shift
/bin/sh -c "trap '' TSTP
$gate" "$0" "$@"
code=$?
while jobs %% >/dev/null 2>&1; do
  fg %% >/dev/null
  code=$?
done
exit "$code"`

/** Arguments: \`boot\` or \`wall\`; a folder to remove in the end. The first line that it is told is the process group. */
export const GUARDIAN = `
clock=$1 folder=$2 watch=
trap '' HUP INT QUIT TERM TSTP
finish() {
  kill -s KILL -- "-$group"
  rm -rf -- "$folder"
}
look() {
  if [ "$clock" = boot ]; then
    read -r now rest </proc/uptime && now=\${now%.*}\${now#*.}
  else
    now=$(date +%s)00
  fi
}
watch() {
  trap 'kill -s KILL $$' EXIT
  while look && [ "$now" -lt "$1" ]; do
    left=$(($1 - now))
    [ "$left" -lt 200 ] || left=200
    sleep "$((left / 100)).$((left / 10 % 10))$((left % 10))" || sleep 1 || exit
  done
  finish
}
exec 2>/dev/null
IFS= read -r group || exec rm -rf -- "$folder"
[ "$group" != done ] || exit 0
while IFS= read -r due; do
  [ -z "$watch" ] || kill -s KILL "$watch"
  [ "$due" != done ] || exit 0
  watch "$due" </dev/null &
  watch=$!
done
finish`
