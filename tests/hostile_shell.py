"""The login shell of a hostile box: `python -IS hostile_shell.py FOLDER`, as sshd's forced command.

It runs what it is sent with `sh -s`, honestly, and lies about what came of it. The lie is FOLDER/<box>.py, written by
the test, with one of these functions; without the file the box is honest:

    change(out, script)     the whole answer, once it is there: bytes, or an iterator of bytes (each sent as it comes)
    each(line, script)      every line of the answer as it comes, to bytes in its place; for programs that go on
    stream(script)          an iterator of bytes in place of any answer; nothing is run

and beside it `stderr(script)`, an iterator of bytes that goes to stderr first. All of them may use `nonce(script)`, the
random word of the patrol's marks, and `mark(script, words)`, a forged one.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

SCRIPT_ENDS = b"</dev/null\n"  # as `script_with_values` ends it; the stdin of a held connection stays open behind it


def nonce(script: bytes) -> bytes:
    found = re.search(rb"set -- '?(\w+)", script)
    return found[1] if found else b""


def mark(script: bytes, words: bytes) -> bytes:
    return b"\n<<<%s %s>>>\n" % (nonce(script), words)


def main(folder: str) -> int:
    script = read_script()
    lie = load(os.path.join(folder, os.environ.get("ONBOX_TEST_BOX", "none") + ".py"))
    for piece in lie["stderr"](script) if "stderr" in lie else ():
        os.write(2, piece)
    if "stream" in lie:
        say(lie["stream"](script))
        return 0
    shell = subprocess.Popen(["sh", "-s"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert shell.stdin is not None
    assert isinstance(shell.stdout, io.BufferedReader)
    threading.Thread(target=feed, args=(shell.stdin, script), daemon=True).start()
    if "change" in lie:
        told = lie["change"](shell.stdout.read(), script)
        say([told] if isinstance(told, bytes) else told)
    elif "each" in lie:
        say(lie["each"](line, script) for line in shell.stdout)
    else:
        say(iter(shell.stdout.read1, b""))
    return shell.wait()


def load(path: str) -> dict[str, Any]:
    names: dict[str, Any] = {"nonce": nonce, "mark": mark}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as source:
            exec(compile(source.read(), path, "exec"), names)
    return names


def read_script() -> bytes:
    script = b""
    while not script.endswith(SCRIPT_ENDS) and (part := os.read(0, 65536)):
        script += part
    return script


def feed(stdin: IO[bytes], script: bytes) -> None:
    """What came, and what still comes."""
    try:
        stdin.write(script)
        stdin.flush()
        while part := os.read(0, 65536):
            stdin.write(part)
            stdin.flush()
        stdin.close()
    except OSError:
        return  # it reads no more


def say(pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(1, rest) :]


if __name__ == "__main__":
    try:
        os._exit(main(sys.argv[1]))
    except BrokenPipeError:
        os._exit(1)  # who asked has gone
