"""What the end of an ssh client means: its words, its exit code, how far it had come -> a key of `reach.REASONS`. Pure.

OpenSSH exits with 255 for all its own troubles and tells them apart only in words. They are not translated, and hardly
changed from 7 to 10. The client is run with LogLevel=DEBUG1, whose lines tell how far it came: the only way to tell a
box that never spoke from an account whose start-up files hang, when the clock and not the client ended it.
"""

from __future__ import annotations

import re
import shlex
from enum import IntEnum

from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.regex import lazy

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
_CHATTER = lazy(
    r"debug\d: |Authenticated to .* using |Authenticated using partial|Transferred: sent |Bytes per second: sent "
    r"|Warning: Permanently added |X11 forwarding |OpenSSH_"
)


class Words(NamedTuple):
    """One row: a last word of the client, and what it means. BY_PHASE: that depends on how far the client had come."""

    reason: str
    pattern: str
    example: str


BY_PHASE = "by phase"
KEYS = ("host_key", "host_new")

# The patterns are anchored, and tried on the last line first: what a server's banner or a start-up file says comes
# before the client's last word. Sources: sshconnect.c, sshconnect2.c, packet.c, kex.c, clientloop.c, readconf.c, mux.c.
WORDS: tuple[Words, ...] = (
    Words("dns", r"^ssh: Could not resolve hostname ", "ssh: Could not resolve hostname gpu1: Name or service not known"),
    Words("dns", r"^ssh: Could not resolve host ", 'ssh: Could not resolve host "gpu1"'),
    Words("refused", r"^ssh: connect to host .*: Connection refused$", "ssh: connect to host gpu1 port 22: Connection refused"),
    Words("timeout", r"^ssh: connect to host .* timed out$", "ssh: connect to host gpu1 port 22: Connection timed out"),
    Words("no_route", r"^ssh: connect to host .*(route|unreachable|is down)", "ssh: connect to host gpu1 port 22: No route to host"),
    Words("no_route", r"^ssh: connect to host .*: .*", "ssh: connect to host gpu1 port 22: Cannot assign requested address"),
    Words(BY_PHASE, r"^Connection timed out during banner exchange", "Connection timed out during banner exchange"),
    Words(BY_PHASE, r"^(\S+: )?Connection to .* timed out$", "Connection to 192.0.2.7 port 22 timed out"),
    Words(BY_PHASE, r"^Timeout, server .* not responding", "Timeout, server gpu1 not responding."),
    Words("auth", r"^\S+: Permission denied \(", "root@gpu1: Permission denied (publickey)."),
    Words("auth", r"^Received disconnect from .* authentication failures", "Received disconnect from 192.0.2.7 port 22:2: Too many authentication failures"),
    Words("auth", r"^(No more authentication methods|Authentication failed|Too many authentication failures)", "No more authentication methods to try."),
    Words("host_new", r"^Host key verification failed", "Host key verification failed."),
    Words("host_key", r"^(Host key|\S+ host key) for .* (has changed|was revoked) and you have requested", "Host key for gpu1 has changed and you have requested strict checking."),
    Words("host_new", r"^No \S+ host key is known for ", "No ED25519 host key is known for gpu1 and you have requested strict checking."),
    Words("client", r"Bad configuration option: ", "command-line: line 0: Bad configuration option: nosuch"),
    Words("client", r"terminating, \d+ bad configuration options", "/root/.ssh/config: terminating, 1 bad configuration options"),
    Words("client", r"^Bad owner or permissions on ", "Bad owner or permissions on /root/.ssh/config"),
    Words("client", r"^(Can't open user config file|.* line \d+: |usage: ssh|unix_listener: |Bad \w+ )", "Can't open user config file ./ssh_config: No such file or directory"),
    Words("client", r"^(hostname|remote username) contains invalid characters", "hostname contains invalid characters"),
    Words("client", r"^Unable to negotiate with ", "Unable to negotiate with 192.0.2.7 port 22: no matching host key type found. Their offer: ssh-rsa"),
    Words("closed", r"^(kex_exchange_identification|ssh_exchange_identification|banner exchange): ", "kex_exchange_identification: Connection closed by remote host"),
    Words("closed", r"^Not allowed at this time", "Not allowed at this time"),
)  # fmt: skip

# Last words that say only that it is over: they count where nothing more telling was said.
OVER: tuple[Words, ...] = (
    Words("jump", r"^(Connection|Received|Disconnected) .*UNKNOWN port 65535", "Connection closed by UNKNOWN port 65535"),
    Words("jump", r"^stdio forwarding failed", "stdio forwarding failed"),
    Words("closed", r"^(Connection (closed|reset) by|Received disconnect from|Disconnected from) ", "Connection closed by 192.0.2.7 port 22"),
    Words("closed", r"^(ssh_dispatch_run_fatal: |Connection to |client_loop: send disconnect)", "ssh_dispatch_run_fatal: Connection to 192.0.2.7 port 22: Broken pipe"),
)  # fmt: skip

# The jump host was passed, and tells why the way from it to the box is closed.
BEHIND_JUMP: tuple[Words, ...] = (
    Words("refused", r"^channel \d+: open failed: .*Connection refused", "channel 0: open failed: connect failed: Connection refused"),
    Words("timeout", r"^channel \d+: open failed: .*timed out", "channel 0: open failed: connect failed: Connection timed out"),
    Words("no_route", r"^channel \d+: open failed: .*(route|unreachable)", "channel 0: open failed: connect failed: No route to host"),
    Words("dns", r"^channel \d+: open failed: .*(not known|resolution|resolve)", "channel 0: open failed: connect failed: Name or service not known"),
)  # fmt: skip

# Of a key that is not the known one, ssh says first where the old one stands, and under which name: an alias, its host
# name and a port of its own are three names, and only that one can be removed.
_KEY_CHANGED = lazy(r"(?:Host key|\S+ host key) for (\S+) (?:has changed|was revoked)")
_KEY_PLACE = lazy(r"Offending \S+ key in (.+):\d+$")

# Said before the last word of a failed login, and more telling than it.
_WHY_NO_LOGIN = lazy(
    r"Load key .{1,200}: |sign_and_send_pubkey: |no such identity: |Identity file .{1,200} not accessible"
)
_ASKS_FOR_A_TOUCH = "Confirm user presence"  # a key on a token; nobody sits there

# The clock or a timeout of the client's own ended it, and nothing had come on stdout.
LATE: dict[Phase, tuple[str, str]] = {
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


def read_late(stderr: str, output: bytes, deadline_seconds: float, *, local: bool = False) -> Ending:
    """The clock ended the client: what was it waiting for? local: there was no ssh, only a shell on this machine."""
    after = f"after {deadline_seconds:.3g} s"
    if output:
        return Ending("late", f"{after}: the answer was not complete")
    if local:
        return Ending("late", f"{after}: the shell gave nothing")
    asked = [line for line in own_words(stderr) if line.startswith(_ASKS_FOR_A_TOUCH)]
    if asked:
        return Ending("auth", _shown(asked[-1]))
    reason, words = LATE[phase_of(stderr)]
    return Ending(reason, f"{after}: {words}")


def read_end(stderr: str, exit_code: int, output: bytes, *, local: bool = False) -> Ending:
    """The client ended by itself before the end of the answer. exit_code: as `Popen.returncode`, negative: a signal."""
    if exit_code < 0:
        return Ending("cut", f"{'the shell' if local else 'the client'} was ended by signal {-exit_code}")
    phase = phase_of(stderr)
    if local or exit_code != SSH_FAILED:
        no_ssh = not local and phase is Phase.SILENT and not output
        return Ending("client" if no_ssh else "shell", _shell_words(stderr, exit_code, output))
    lines = own_words(stderr)
    if phase in {Phase.LOGGED_IN, Phase.MASTER} or output:
        return Ending(
            "cut", _shown(lines[-1]) if lines else "the link, or the shell on the box, was ended from outside"
        )
    return _read_words(lines, phase)


def _read_words(lines: list[str], phase: Phase) -> Ending:
    if found := _last_match(lines, OVER[:2]):  # through a jump host: whose words are they?
        behind = _last_match(lines, BEHIND_JUMP)
        return Ending(behind[0].reason, _shown(behind[1])) if behind else Ending("jump", _shown(lines[0]))
    found = _last_match(lines, WORDS) or _last_match(lines, OVER)
    if not found:
        return Ending("unknown", _shown(lines[-1]) if lines else "ssh failed without a word")
    row, line = found
    if row.reason in KEYS and (changed := _changed_key(lines)):
        return Ending("host_key", changed)
    if row.reason == BY_PHASE:
        return Ending(LATE[phase][0], _shown(line))
    if row.reason == "closed" and phase is Phase.PROXY:
        return Ending("jump", _shown(lines[0]))
    why = [line for line in lines if _WHY_NO_LOGIN.search(line)] if row.reason == "auth" else []
    return Ending(row.reason, _shown("; ".join([*why[:1], line])))


def _changed_key(lines: list[str]) -> str:
    """What ssh says of a key that has changed, and the command that removes the old one; "" where none has."""
    line, name = next(((line, found[1]) for line in lines if (found := _KEY_CHANGED.match(line))), ("", ""))
    if not line.endswith("strict checking."):
        return ""
    place = next((found[1] for line in lines if (found := _KEY_PLACE.match(line))), "")
    if not place:
        return _shown(line)
    return _shown(f"of {name}; the old one goes with: {shlex.join(['ssh-keygen', '-f', place, '-R', name])}")


def _last_match(lines: list[str], rows: tuple[Words, ...]) -> tuple[Words, str] | None:
    for line in reversed(lines):
        for row in rows:
            if re.search(row.pattern, line):
                return row, line
    return None


def _shell_words(stderr: str, exit_code: int, output: bytes) -> str:
    said = own_words(stderr) or output.decode("utf-8", "replace").strip().splitlines()[-1:]
    words = f"ended with {exit_code} before its answer was complete"
    return f"{words}: {_shown(said[-1])}" if said else words


def _shown(line: str) -> str:
    return safe_line(line, DETAIL_CHARACTERS)
