"""The table of what ssh says: every row reachable, and whole endings as OpenSSH writes them."""

from __future__ import annotations

import re

import pytest

from patrol.ssh.client_errors import (
    BEHIND_JUMP,
    BY_PHASE,
    LATE,
    OVER,
    WORDS,
    Phase,
    Words,
    phase_of,
    read_end,
    read_late,
)
from patrol.ssh.unreachable_reasons import BY_KEY, ENGINE_REASONS

CONFIG = "debug1: Reading configuration data /etc/ssh/ssh_config\n"
CONNECTING = f"{CONFIG}debug1: Connecting to gpu1 [192.0.2.7] port 22.\n"
CONNECTED = f"{CONNECTING}debug1: Connection established.\n"
SPOKEN = f"{CONNECTED}debug1: Remote protocol version 2.0, remote software version OpenSSH_9.2\n"
LOGGED_IN = f'{SPOKEN}Authenticated to gpu1 ([192.0.2.7]:22) using "publickey".\n'
PROXY = f"{CONFIG}debug1: Executing proxy command: exec ssh -W '[gpu1]:22' jump\n"
MASTER = f"{CONFIG}debug1: mux_client_request_session: master session id: 2\n"
CHANGED = """\
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
Offending ED25519 key in /root/.ssh/known_hosts:1
Host key for gpu1 has changed and you have requested strict checking.
Host key verification failed.
"""
# (what stderr held, reason). Taken from OpenSSH 9.2 by provoking each, the others from the sources of 7.4 to 10.5.
ENDINGS: tuple[tuple[str, str], ...] = (
    (f"{CONFIG}ssh: Could not resolve hostname gpu1: Name or service not known\r\n", "dns"),
    (f"{CONFIG}ssh: Could not resolve hostname gpu1: nodename nor servname provided, or not known\r\n", "dns"),
    (f"{CONFIG}ssh: Could not resolve hostname gpu1: Temporary failure in name resolution\r\n", "dns"),
    (f"{CONNECTING}debug1: connect to address 192.0.2.7 port 22: Connection refused\r\nssh: connect to host gpu1 port 22: Connection refused\r\n", "refused"),
    (f"{CONNECTING}ssh: connect to host gpu1 port 22: Connection timed out\r\n", "timeout"),
    (f"{CONNECTING}ssh: connect to host gpu1 port 22: Operation timed out\r\n", "timeout"),
    (f"{CONNECTING}ssh: connect to host gpu1 port 22: No route to host\r\n", "no_route"),
    (f"{CONNECTING}ssh: connect to host gpu1 port 22: Network is unreachable\r\n", "no_route"),
    (f"{CONNECTING}ssh: connect to host gpu1 port 22: Host is down\r\n", "no_route"),
    (f"{CONNECTED}Connection timed out during banner exchange\r\nConnection to 192.0.2.7 port 22 timed out\r\n", "banner"),
    (f"{CONNECTED}kex_exchange_identification: Connection closed by remote host\r\nConnection closed by 192.0.2.7 port 22\r\n", "closed"),
    (f"{CONNECTED}kex_exchange_identification: read: Connection reset by peer\r\nConnection reset by 192.0.2.7 port 22\r\n", "closed"),
    (f"{CONNECTED}ssh_exchange_identification: Connection closed by remote host\r\n", "closed"),
    (f"{SPOKEN}Connection closed by 192.0.2.7 port 22\r\n", "closed"),
    (f"{SPOKEN}Not allowed at this time\r\nConnection closed by 192.0.2.7 port 22\r\n", "closed"),
    (f"{SPOKEN}Timeout, server gpu1 not responding.\r\n", "late_login"),
    (f"{SPOKEN}Connection to 192.0.2.7 port 22 timed out\r\n", "late_login"),
    (f"{SPOKEN}root@gpu1: Permission denied (publickey).\r\n", "auth"),
    (f"{SPOKEN}Received disconnect from 192.0.2.7 port 22:2: Too many authentication failures\r\nDisconnected from 192.0.2.7 port 22\r\n", "auth"),
    (f"{SPOKEN}{CHANGED}", "host_key"),
    (f"{SPOKEN}No ED25519 host key is known for gpu1 and you have requested strict checking.\nHost key verification failed.\n", "host_new"),
    (f"{PROXY}ssh: connect to host jump port 22: Connection refused\r\nConnection closed by UNKNOWN port 65535\r\n", "jump"),
    (f"{PROXY}root@jump: Permission denied (publickey).\r\nConnection closed by UNKNOWN port 65535\r\n", "jump"),
    (f"{PROXY}Host key verification failed.\r\nConnection closed by UNKNOWN port 65535\r\n", "jump"),
    (f"{PROXY}sh: 1: nc: not found\r\nConnection closed by UNKNOWN port 65535\r\n", "jump"),
    (f"{PROXY}Connection timed out during banner exchange\r\nConnection to UNKNOWN port 65535 timed out\r\n", "jump"),
    (f"{PROXY}channel 0: open failed: connect failed: Connection refused\nstdio forwarding failed\nConnection closed by UNKNOWN port 65535\n", "refused"),
    (f"{PROXY}channel 0: open failed: connect failed: No route to host\nstdio forwarding failed\nConnection closed by UNKNOWN port 65535\n", "no_route"),
    ("command-line: line 0: Bad configuration option: nosuch\r\n", "client"),
    ("/root/.ssh/config: line 3: Bad configuration option: nosuch\n/root/.ssh/config: terminating, 1 bad configuration options\n", "client"),
    ("Bad owner or permissions on /root/.ssh/config\r\n", "client"),
    ("Can't open user config file ./ssh_config: No such file or directory\n", "client"),
    (f"{SPOKEN}Unable to negotiate with 192.0.2.7 port 22: no matching host key type found. Their offer: ssh-rsa\n", "client"),
    ("unknown option -- z\nusage: ssh [-46AaCfGgKkMNnqsTtVvXxYy] [-B bind_interface]\n", "client"),
    (f"{LOGGED_IN}Timeout, server gpu1 not responding.\r\n", "cut"),
    (f"{LOGGED_IN}client_loop: send disconnect: Broken pipe\r\n", "cut"),
    (f"{LOGGED_IN}Connection to gpu1 closed by remote host.\r\n", "cut"),
    (LOGGED_IN, "cut"),
    (f"{SPOKEN}something new\r\n", "unknown"),
    ("", "unknown"),
)  # fmt: skip


@pytest.mark.parametrize(("stderr", "reason"), ENDINGS)
def test_ending_is_read(stderr: str, reason: str) -> None:
    assert read_end(stderr, 255, b"").reason == reason


@pytest.mark.parametrize("row", [*WORDS, *OVER, *BEHIND_JUMP], ids=lambda row: row.example[:40])
def test_row_is_the_first_to_match_its_own_example(row: Words) -> None:
    rows = next(rows for rows in (WORDS, OVER, BEHIND_JUMP) if row in rows)
    assert next(other for other in rows if re.search(other.pattern, row.example)) is row


def test_every_reason_is_one_that_people_are_told() -> None:
    used = {row.reason for row in (*WORDS, *OVER, *BEHIND_JUMP)} - {BY_PHASE}
    used |= {reason for reason, _ in LATE.values()} | {"cut", "shell", "late", "unknown", "defect", "flood"}
    assert used | {"untrusted"} | {one.key for one in ENGINE_REASONS} == set(BY_KEY)


def test_every_phase_says_what_was_waited_for() -> None:
    assert set(LATE) == set(Phase)


@pytest.mark.parametrize(
    ("stderr", "phase", "reason"),
    [
        ("", Phase.SILENT, "timeout"),
        (CONFIG, Phase.RESOLVING, "dns"),
        (MASTER, Phase.MASTER, "late_login"),
        (CONNECTING, Phase.CONNECTING, "timeout"),
        (PROXY, Phase.PROXY, "jump"),
        (CONNECTED, Phase.CONNECTED, "banner"),
        (SPOKEN, Phase.SPOKEN, "late_login"),
        (LOGGED_IN, Phase.LOGGED_IN, "late"),
    ],
)
def test_what_the_clock_ended_is_told_by_phase(stderr: str, phase: Phase, reason: str) -> None:
    assert phase_of(stderr) is phase
    assert read_late(stderr, b"", 30.0).reason == reason
    assert read_late(stderr, b"begin\n", 30.0).reason == "late"


def test_banner_of_the_server_is_not_taken_for_ssh() -> None:
    banner = "Permission denied for all but authorised users.\nHost key verification is on.\n"
    assert read_end(f"{SPOKEN}{banner}Connection closed by 192.0.2.7 port 22\r\n", 255, b"").reason == "closed"


def test_broken_key_is_named() -> None:
    why = 'Load key "/root/.ssh/id": bad permissions\r\n'
    ending = read_end(f"{SPOKEN}{why}root@gpu1: Permission denied (publickey).\r\n", 255, b"")
    assert "bad permissions" in ending.detail


def test_token_that_waits_for_a_touch_is_an_auth_trouble() -> None:
    assert read_late(f"{SPOKEN}Confirm user presence for key ED25519-SK SHA256:x\n", b"", 30.0).reason == "auth"


def test_remote_exit_code_is_a_trouble_of_the_shell() -> None:
    ending = read_end(f"{LOGGED_IN}sh: not found\n", 127, b"")
    assert (ending.reason, "sh: not found" in ending.detail) == ("shell", True)
    assert read_end("", 127, b"").reason == "client"
    assert read_end("", 255, b"", local=True).reason == "shell"
    assert read_end("", -9, b"", local=True).reason == "cut"


def test_detail_is_one_printable_line_without_secrets() -> None:
    evil = f"{SPOKEN}\x1b[2Jtoken=abcdef123456\x07{'x' * 900}\n"
    detail = read_end(evil, 255, b"").detail
    assert "abcdef" not in detail
    assert detail.isprintable()
    assert len(detail) <= 200
