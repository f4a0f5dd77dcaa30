"""Runs a command on a terminal of its own and types at its prompts, as a person would.

usage: on_terminal.py LINES_JSON COMMAND ARGS...

A prompt is output that ends with ": "; each gets the next line. What the command shows goes to stdout, its exit code
is ours. Without lines that are left nothing is typed, and "\x03" is Ctrl-C.
"""

import json
import os
import pty
import sys


def main() -> int:
    lines, command = json.loads(sys.argv[1]), sys.argv[2:]
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
        shown += part
        if shown.endswith(b": ") and lines:
            os.write(terminal, lines.pop(0).encode() + b"\r")
            shown = b""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


sys.exit(main())
