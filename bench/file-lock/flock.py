"""Takes and gives back one flock(2) as lines on standard input say, and prints when, as worker.ts does.

    flock.py FILE                 waits in flock(2) itself
    flock.py FILE PROGRAM ARGS    takes the lock and becomes that program, which holds it for as long as it lives
"""

import fcntl
import os
import sys
import time

file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)


def tell(what, at):
    sys.stdout.write(f"{what} {at}\n")
    sys.stdout.flush()


if len(sys.argv) > 2:
    fcntl.flock(file, fcntl.LOCK_EX)
    os.set_inheritable(file, True)
    os.execvp(sys.argv[2], sys.argv[2:])

tell("ready", time.monotonic_ns())
for line in sys.stdin:
    if line == "acquire\n":
        tell("asks", time.monotonic_ns())
        fcntl.flock(file, fcntl.LOCK_EX)
        tell("has", time.monotonic_ns())
    elif line == "release\n":
        at = time.monotonic_ns()
        fcntl.flock(file, fcntl.LOCK_UN)
        tell("gives", at)
