"""Lines of ours in a crontab: text in, text out. Pure.

Such a line is known by its end, a comment that is its tag ("# onbox-patrol digits-0a1b2c3d"). All other lines stay as
they are, byte for byte.
"""

from __future__ import annotations

LINE_LIMIT = 990  # Vixie cron cuts a command at 1000 characters
# What `crontab -l` says, with exit code 1, when there simply is none: Vixie, Debian, cronie, macOS and the BSDs, dcron,
# systemd-cron; BusyBox; fcron.
_NONE_YET = ("no crontab for", "can't open '", "has no fcrontab", "has no crontab")


class BadLine(ValueError):
    """A line that no crontab can hold; the text says why."""


def render(when: str, command: str, tag: str) -> str:
    """One line. when: five fields, or a word such as `@reboot`. Raises BadLine."""
    line = f"{' '.join(when.split())} {escape(command)} {tag}"
    if "\n" in line or "\r" in line or "\0" in line:
        raise BadLine("a path holds a line break, which no crontab can")
    if len(line) > LINE_LIMIT:
        raise BadLine(
            f"the line would have {len(line)} characters, and cron cuts it at {LINE_LIMIT}: use shorter paths"
        )
    return line


def escape(command: str) -> str:
    """A bare `%` ends the command in a crontab."""
    return command.replace("%", "\\%")


def is_ours(line: str, tag: str) -> bool:
    """Whether a line (without its end) has the tag; one that was commented out is ours, too."""
    return line.rstrip("\r").endswith(f" {tag}")


def our_lines(crontab: str, tag: str) -> list[str]:
    return [line for line in crontab.split("\n") if is_ours(line, tag)]


def with_line(crontab: str, line: str, tag: str) -> str:
    """The crontab with our line: in the place of the old one, else at the end."""
    lines = crontab.split("\n")
    places = [number for number, one in enumerate(lines) if is_ours(one, tag)]
    if places:
        lines[places[0]] = line
        return "\n".join(one for number, one in enumerate(lines) if number not in places[1:])
    return (crontab if not crontab or crontab.endswith("\n") else crontab + "\n") + line + "\n"


def without_line(crontab: str, tag: str) -> str:
    """The crontab without our line."""
    return "\n".join(line for line in crontab.split("\n") if not is_ours(line, tag))


def means_no_crontab(exit_code: int, said: str) -> bool:
    """Whether a `crontab -l` that failed means "there is none yet". Any other failure is not an empty crontab: taking
    it for one would wipe what is there.
    """
    return exit_code == 1 and any(words in said for words in _NONE_YET) and "ermission" not in said
