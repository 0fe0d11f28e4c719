"""What is known of the hosts that coding agents run in. A table, with the date at which each fact was last verified.

A host that is not in it takes the generic row. Facts of hosts change: one that is older than a year is said to be old.
"""

from __future__ import annotations

from onbox.named_tuple import NamedTuple


class Host(NamedTuple):
    """foreground_seconds: after which a command in the foreground is ended; None: not fixed. background: how something
    is left running that speaks when it ends. recurring: what wakes it again on this machine. cloud: what its cloud
    schedules; it never reaches a box. reads: the file that it reads at its start. mcp_file: the project's file that
    names its MCP servers, in the form `{"mcpServers": {...}}`; "": it has none. mcp_command: what registers a server
    there by hand; {words} is the server's command. verified: `YYYY-MM`.
    """

    key: str
    name: str
    foreground_seconds: int | None
    background: str
    recurring: str
    cloud: str
    reads: str
    verified: str
    mcp_file: str = ""
    mcp_command: str = ""


HOSTS: tuple[Host, ...] = (
    Host(
        "claude-code", "Claude Code", 600, "a background command (`run_in_background`); its end wakes the session",
        "`/loop` while the session lives; cron on this machine beyond that", "`/schedule` (a cloud agent)",
        ".claude/skills/onbox/SKILL.md", "2026-06", ".mcp.json", "claude mcp add onbox -- {words}",
    ),
    Host(
        "codex", "Codex", None, "one long command per task; do not end the turn while you are to monitor",
        "a thread that wakes itself; cron on this machine beyond that", "Automations and cloud tasks", "AGENTS.md",
        "2026-06", "", "codex mcp add onbox -- {words}",
    ),
    Host(
        "cursor", "Cursor", None, "a background agent on this machine", "none of its own: cron on this machine",
        "Automations and background agents in the cloud", ".cursor/rules/onbox.mdc or AGENTS.md", "2026-06",
        ".cursor/mcp.json",
    ),
    Host(
        "trae", "Trae", None, "a run of its agent in CI or in a terminal; each run ends with its task",
        "none of its own: cron on this machine, or CI", "none that is known", "AGENTS.md", "2026-06", ".trae/mcp.json",
    ),
    Host(
        "generic", "any other host", 600, "whatever leaves a command running and tells its end",
        "cron on this machine", "whatever runs elsewhere", "AGENTS.md", "2026-06",
    ),
)  # fmt: skip
BY_KEY = {host.key: host for host in HOSTS}


def is_old(host: Host, year: int, month: int) -> bool:
    """Whether its facts were verified more than a year before. Pure."""
    then_year, _, then_month = host.verified.partition("-")
    return (year * 12 + month) - (int(then_year) * 12 + int(then_month)) > 12
