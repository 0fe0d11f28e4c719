"""How shells, launchers, containers and systemd tell by which signal a process went, or with which exit code. Pure.

The signals that an own row knows (SIGKILL, SIGTERM, SIGINT, SIGSEGV, SIGABRT, SIGBUS, ...) stand in the tables of their
themes; here are the other ways to write them, and the rest.
"""

from __future__ import annotations

from onbox.triage.rules.rows import ASKED, CAUSE, DEATH, REASON, SUMMARY, RuleRow
from onbox.triage.rules.vocabularies.listed import Listed, rows

_NEED = (
    "exit|signal|status=|<signals|return|rc=|rc:|rc |*** [|trap|limit exceeded|alarm clock|quit|system call|hangup"
    "|interrupt|timer expired|power failure|sigxcpu|sigxfsz|sigalrm|sigvtalrm|sigtrap|sigsys|sigquit|sighup|sigpwr"
    "|sigusr|sigint"
)


ENDED = (
    r"(?:\bexit(?:ed|s|ing)?(?:[ _-]?(?:code|status))?|\bexitcode|\breturncode|\breturn[ _](?:code|status|value)"
    r"|\brc)\b"
    r"(?: with)?(?: (?:non-zero )?(?:exit )?(?:code|status))?(?: (?:of|is|was))?[ :=(]{1,4}"
)


_TYPED = ("Quit",)  # programs show it as an answer to what was typed
_OF_A_SHELL = r"(?:\S.{0,120}: line \d+:\s{1,8}\d{1,20} |(?:zsh|ksh|dash): )"


def _ways(number: int, name: str, text: str) -> str:
    """All the ways to write a signal: its number, its name, and the text that a shell prints."""
    shell = _OF_A_SHELL if text in _TYPED else f"{_OF_A_SHELL}?"
    numbers = f"{128 + number}" if number == 1 else f"(?:{128 + number}|-{number})"  # -1 is anybody's code
    return (
        rf"{ENDED}{numbers}(?![\d.])|\*{{3}} \[.{{1,160}} error {128 + number}$"
        rf"|\b(?:by|with|on|got|received|caught) signal[ :=(]{{1,3}}{number}\b|\bstatus={number}/{name}\b"
        rf"|\b(?:terminated|killed|died|interrupted|failed|exited)\b.{{0,24}}\bSIG{name}\b"
        rf"|^{shell}(?-i:{text})(?: \(core dumped\))?(?:\s{{2,20}}\S.{{0,400}}"
        rf"|\s{{1,20}}python\S{{0,20}} .{{0,400}})?\s{{0,8}}$"
        rf"|^(?-i:{text}) \(core dumped\)$|(?:\):|\bsignal:) (?:{text})(?: \(core dumped\))?$"
    )


def _row(
    number: int,
    name: str,
    text: str,
    failure_class: str,
    explains: int,
    *,
    fatal: bool = True,
    rivals: tuple[str, ...] = (),
) -> RuleRow:
    example = f"run.sh: line 7: 3191 {text}   python fit.py" if number == 2 else f"make: *** [fit] Error {128 + number}"
    source = "shells, systemd, docker, launchers"
    return RuleRow(
        f"signal-{name.lower()}",
        failure_class,
        explains,
        _NEED,
        _ways(number, name, text),
        source,
        example,
        fatal,
        rivals,
    )


LIMIT_SIGNALS: tuple[RuleRow, ...] = (
    _row(24, "XCPU", "CPU time limit exceeded", "time_limit", REASON, fatal=False),
    _row(25, "XFSZ", r"File size limit exceeded(?:\S.{0,40})?", "quota_exceeded", CAUSE),
    _row(14, "ALRM", "Alarm clock", "time_limit", DEATH),
    _row(26, "VTALRM", "Virtual timer expired", "time_limit", DEATH),
)
CRASH_SIGNALS: tuple[RuleRow, ...] = (
    _row(5, "TRAP", "Trace/breakpoint trap", "code_error", DEATH),
    _row(31, "SYS", "Bad system call", "code_error", DEATH),
)
_BY_WHOM = ("preempted", "user_interrupt", "time_limit")
ASKING_SIGNALS: tuple[RuleRow, ...] = (
    _row(1, "HUP", "Hangup", "user_interrupt", ASKED - 2, fatal=False),
    _row(2, "INT", "Interrupt", "user_interrupt", ASKED, fatal=False),
    _row(3, "QUIT", "Quit", "user_interrupt", ASKED, fatal=False),
    _row(10, "USR1", "User defined signal 1", "unknown", ASKED - 5, fatal=False, rivals=_BY_WHOM),
    _row(12, "USR2", "User defined signal 2", "unknown", ASKED - 5, fatal=False, rivals=_BY_WHOM),
    _row(30, "PWR", "Power failure", "preempted", ASKED, fatal=False),
)

# systemd writes the name beside the number: status=9/KILL.
UNIT_ENDS: tuple[RuleRow, ...] = rows(
    r"\bcode=(?:exited|killed|dumped), status={}|\bFailed with result '{}'|\(Result: {}\)|\bresult=(?:')?{}(?:'|$)",
    "status=|failed with result|result",
    "systemd",
    Listed("unit-oom", "host_oom", REASON, r"oom-kill\b", "train.service: Failed with result 'oom-kill'.", True),
    Listed(
        "unit-killed", "host_oom", DEATH, r"9/KILL\b", "train.service: Main process exited, code=killed, status=9/KILL"
    ),
    Listed(
        "unit-timeout",
        "time_limit",
        REASON,
        r"timeout\b",
        "train.service: Failed with result 'timeout'.",
        True,
    ),
    Listed(
        "unit-bus-error",
        "shm_too_small",
        DEATH,
        r"7/BUS\b",
        "train.service: Main process exited, code=dumped, status=7/BUS",
        True,
    ),
    Listed(
        "unit-crashed",
        "code_error",
        DEATH,
        r"(?:4/ILL|5/TRAP|6/ABRT|8/FPE|11/SEGV|31/SYS)\b|(?:core-dump|watchdog)\b",
        "train.service: Main process exited, code=dumped, status=11/SEGV",
        True,
    ),
    Listed(
        "unit-interrupted",
        "user_interrupt",
        ASKED,
        r"(?:1/HUP|2/INT|3/QUIT)\b",
        "train.service: Main process exited, code=killed, status=2/INT",
    ),
    Listed(
        "unit-asked-to-end",
        "unknown",
        ASKED - 5,
        r"(?:10/USR1|12/USR2|15/TERM)\b",
        "train.service: Main process exited, code=killed, status=15/TERM",
        rivals=("preempted", "user_interrupt", "time_limit"),
    ),
    Listed(
        "unit-permission",
        "permission_error",
        DEATH,
        r"(?:77/NOPERM|202/FDS|204/MEMORY|216/GROUP|217/USER|224/PAM|226/NAMESPACE)\b",
        "train.service: Main process exited, code=exited, status=77/NOPERM",
    ),
    Listed(
        "unit-data",
        "data_error",
        DEATH,
        r"(?:65/DATAERR|74/IOERR)\b",
        "train.service: Main process exited, code=exited, status=65/DATAERR",
    ),
    Listed(
        "unit-network",
        "network_blip",
        DEATH,
        r"(?:68/NOHOST|69/UNAVAILABLE|75/TEMPFAIL|76/PROTOCOL)\b",
        "train.service: Main process exited, code=exited, status=69/UNAVAILABLE",
    ),
    Listed(
        "unit-setting",
        "config_error",
        DEATH,
        r"(?:2/INVALIDARGUMENT|5/NOTINSTALLED|6/NOTCONFIGURED|64/USAGE|66/NOINPUT|67/NOUSER|72/OSFILE|73/CANTCREAT"
        r"|78/CONFIG|12[67]/\S{1,10}|2\d\d/[A-Z_]{2,24})\b|(?:resources|protocol|condition)\b",
        "train.service: Main process exited, code=exited, status=78/CONFIG",
    ),
    Listed(
        "unit-failed",
        "code_error",
        SUMMARY,
        r"(?!(?:14|24|25)/)[1-9]\d{0,2}/[A-Za-z/]{2,24}|(?:exit-code|signal|start-limit-hit)\b",
        "train.service: Failed with result 'exit-code'.",
    ),
)
NOT_FOUND: tuple[RuleRow, ...] = (
    RuleRow(
        "exit-127",
        "config_error",
        SUMMARY + 1,
        "exit|status|returned",
        rf"{ENDED}12[678](?![\d.])",
        "shells and containers: a command that was not found, or cannot be executed",
        "container exited with code 127",
    ),
)
