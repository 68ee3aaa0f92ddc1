"""Closes a terminal under a program: hangup.py TEXT LINE [ARGUMENT...]

Runs LINE in sh on a terminal of its own, with the arguments as "$@", and closes that terminal once TEXT was shown there. Prints
how LINE ended: "code N" or "signal N".
"""
import os
import pty
import sys

text, line, arguments = sys.argv[1].encode(), sys.argv[2], sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.execvp("sh", ["sh", "-c", line, "sh", *arguments])
shown = b""
while text not in shown:
    shown += os.read(terminal, 4096)
os.close(terminal)
_, status = os.waitpid(child, 0)
print(f"code {os.WEXITSTATUS(status)}" if os.WIFEXITED(status) else f"signal {os.WTERMSIG(status)}")
