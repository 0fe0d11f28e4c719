"""What the end of an ssh client means: its words, its exit code, how far it had come -> a key of `reach.REASONS`. Pure.

OpenSSH exits with 255 for all its own troubles and tells them apart only in words. They are not translated, and hardly
changed from 6.6 to 10. The client is run with LogLevel=DEBUG1, whose lines tell how far it came: that is the only way to
tell a box that never spoke from an account whose start-up files hang, when the clock and not the client ended it.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from onbox.redact import one_line, redact

SSH_FAILED = 255
DETAIL_CHARACTERS = 200


class Phase(IntEnum):
    """How far the client came. SILENT: it shows no phases (not OpenSSH, or it hangs before its first word)."""

    SILENT = 0
    RESOLVING = 1  # has read its configuration; looks up the name, or talks to a master
    MASTER = 2  # a live master took the session
    CONNECTING = 3
    PROXY = 4  # a ProxyJump or ProxyCommand carries the connection
    CONNECTED = 5
    SPOKEN = 6  # sshd sent its version
    LOGGED_IN = 7


class Ending(NamedTuple):
    """reason: a key of `reach.REASONS`; detail: the proving line, redacted and printable."""

    reason: str
    detail: str


# Later lines stand for later phases, so the last one that matches wins.
_PHASES: tuple[tuple[str, Phase], ...] = (
    ("debug1: mux_client_request_session: master session id", Phase.MASTER),
    ("debug1: Connecting to ", Phase.CONNECTING),
    ("debug1: Executing proxy command", Phase.PROXY),
    ("debug1: Executing proxy dialer command", Phase.PROXY),
    ("debug1: Connection established", Phase.CONNECTED),
    ("debug1: Remote protocol version", Phase.SPOKEN),
    ("Authenticated to ", Phase.LOGGED_IN),
    ("debug1: Authentication succeeded", Phase.LOGGED_IN),  # until 8.7
    ("debug1: Entering interactive session", Phase.LOGGED_IN),
)

# Lines of LogLevel=DEBUG1 that are no trouble. Those of level VERBOSE carry no prefix.
_CHATTER = re.compile(
    r"debug\d: |Authenticated to .* using |Authenticated using partial|Transferred: sent |Bytes per second: sent "
    r"|Warning: Permanently added |X11 forwarding |OpenSSH_"
)


class Words(NamedTuple):
    """One row: a line of the client, and what it means. after_login: what it means once the login has succeeded."""

    reason: str
    pattern: str
    example: str
    after_login: str = "cut"


_JUMP = "UNKNOWN port 65535|unknown port 65535"

# Tried for each line, the last line first: what ended the client is its last word, and what a server's banner says
# comes before it.
WORDS: tuple[Words, ...] = (
    Words("dns", r"^ssh: Could not resolve hostname |Temporary failure in name resolution|Name or service not known", "ssh: Could not resolve hostname nowhere.invalid: Name or service not known"),
    Words("jump", _JUMP, "Connection closed by UNKNOWN port 65535"),
    Words("jump", r"^(channel 0: open failed|stdio forwarding failed|mux_client_forward: )", "stdio forwarding failed"),
    Words("refused", r": Connection refused$", "ssh: connect to host gpu1 port 22: Connection refused"),
    Words("no_route", r": (No route to host|Network is unreachable|Network is down|Host is down|Host is unreachable)$|Cannot assign requested address$", "ssh: connect to host gpu1 port 22: No route to host"),
    Words("banner", r"timed out during banner exchange|banner line contains invalid|banner exchange: .*(timed out|invalid format)", "Connection timed out during banner exchange"),
    Words("timeout", r"^ssh: connect to host .*(timed out|Connection timed out)$", "ssh: connect to host gpu1 port 22: Connection timed out"),
    Words("late_login", r"^Timeout, server .* not responding|^Connection to .* (timed out|port \d+ timed out)", "Timeout, server gpu1 not responding."),
    Words("auth", r"Permission denied|Too many authentication failures|No more authentication methods|no mutual signature|sign_and_send_pubkey|Confirm user presence|UNPROTECTED PRIVATE KEY|Load key .*: ", "root@gpu1: Permission denied (publickey)."),
    Words("host_key", r"Host key verification failed|HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed|No \S+ host key is known|host key .* revoked|matching host key fingerprint", "Host key verification failed."),
    Words("client", r"Bad configuration option|[Bb]ad (owner or permissions|config|number|port)|terminating, \d+ bad configuration|^command-line: |Can't open user config file|no argument after keyword|[Mm]issing argument|unix_listener|ControlPath .*too long|illegal option|unknown option|no matching (host key type|cipher|key exchange|MAC)|Unable to negotiate|hostname contains invalid characters|Cannot execute command-line and remote command|[Uu]nsupported option", 'command-line: line 0: Bad configuration option: nosuch'),
    Words("closed", r"^(kex_exchange_identification|ssh_exchange_identification|banner exchange|ssh_dispatch_run_fatal)|^Connection (closed|reset) by |^Received disconnect|^Disconnected from|^Connection to .* (closed|reset)|[Bb]roken pipe|Not allowed at this time|Exceeded MaxStartups", "kex_exchange_identification: Connection closed by remote host"),
)  # fmt: skip

_PATTERNS = tuple((row, re.compile(row.pattern)) for row in WORDS)

# The clock ended it. (phase, whether something came on stdout is dealt with before) -> reason and words.
_LATE: dict[Phase, tuple[str, str]] = {
    Phase.SILENT: ("timeout", "the client did not say how far it came"),
    Phase.RESOLVING: ("dns", "the name was still being looked up"),
    Phase.MASTER: ("late_login", "a live master connection took the session, and nothing came over it"),
    Phase.CONNECTING: ("timeout", "no connection to the port"),
    Phase.PROXY: ("jump", "nothing came through the jump host or proxy command"),
    Phase.CONNECTED: ("banner", "the port accepted, sshd sent no version"),
    Phase.SPOKEN: ("late_login", "sshd spoke, the login did not end"),
    Phase.LOGGED_IN: ("late", "logged in; the account's shell or its start-up files gave nothing"),
}


def phase_of(stderr: str) -> Phase:
    """How far the client came, by its DEBUG1 lines."""
    reached = Phase.SILENT
    for line in stderr.splitlines():
        if reached is Phase.SILENT and line.startswith("debug1: "):
            reached = Phase.RESOLVING
        for start, phase in _PHASES:
            if line.startswith(start):
                reached = max(reached, phase)
    return reached


def own_words(stderr: str) -> list[str]:
    """The lines of stderr that are no chatter of the log level; what remains may be the remote side's, too."""
    lines = (line.strip() for line in stderr.splitlines())
    return [line for line in lines if line and not _CHATTER.match(line)]


def read_late(stderr: str, output: bytes, deadline_seconds: float) -> Ending:
    """The clock ended the client: what was it waiting for?"""
    after = f"after {deadline_seconds:g} s"
    if output:
        return Ending("late", f"{after}: the answer was not complete")
    waiting_for_a_person = [line for line in own_words(stderr) if "Confirm user presence" in line]
    if waiting_for_a_person:
        return Ending("auth", _shown(waiting_for_a_person[-1]))
    reason, words = _LATE[phase_of(stderr)]
    return Ending(reason, f"{after}: {words}")


def read_end(stderr: str, exit_code: int, output: bytes) -> Ending:
    """The client ended by itself (exit_code as of `Popen.returncode`) and the answer's end had not come."""
    if exit_code not in {SSH_FAILED, -1} and exit_code >= 0:
        return Ending("shell", _shell_words(stderr, exit_code, output))
    logged_in = phase_of(stderr) in {Phase.LOGGED_IN, Phase.MASTER} or bool(output)
    lines = own_words(stderr)
    for line in reversed(lines):
        for row, pattern in _PATTERNS:
            if pattern.search(line):
                return Ending(row.after_login if logged_in else row.reason, _shown(line))
    if exit_code < 0:
        return Ending("cut", f"the client was ended by signal {-exit_code}")
    if logged_in:
        return Ending("cut", _shown(lines[-1]) if lines else "the remote shell was ended by a signal")
    return Ending("unknown", _shown(lines[-1]) if lines else f"ssh ended with {exit_code} and no word")


def _shell_words(stderr: str, exit_code: int, output: bytes) -> str:
    said = own_words(stderr) or output.decode("utf-8", "replace").strip().splitlines()[-1:]
    words = f"the remote command ended with {exit_code} before its answer was complete"
    return f"{words}: {_shown(said[-1])}" if said else words


def _shown(line: str) -> str:
    return redact(one_line(line))[:DETAIL_CHARACTERS]
