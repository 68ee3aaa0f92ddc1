"""Runs a program on a terminal of its own: terminal.py TEXT BYTES PROGRAM [ARGUMENT...]

Types BYTES (as in Python, such as \\x03) once the program has said TEXT. Prints what the terminal showed, and then how the
program ended: "code N" or "signal N". Node and Deno can't make terminals.
"""
import fcntl
import os
import pty
import signal
import struct
import sys
import termios

text, typed, program = sys.argv[1].encode(), sys.argv[2].encode().decode("unicode_escape").encode(), sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    # What a shell starts in the background ignores these, and so would all that comes of it.
    for each in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(each, signal.SIG_DFL)
    os.execvp(program[0], program)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
shown = b""
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        break
    if not more:
        break
    shown += more
    if typed and text in shown:
        os.write(terminal, typed)
        typed = b""
_, status = os.waitpid(child, 0)
sys.stdout.write(shown.decode(errors="replace").replace("\r\n", "\n"))
print(f"code {os.WEXITSTATUS(status)}" if os.WIFEXITED(status) else f"signal {os.WTERMSIG(status)}")
