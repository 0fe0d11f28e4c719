"""The logbook's text: entries in Markdown, chained by their hashes. Pure.

A file is a head (the run's contract, written once) and entries. Each entry is a heading, its fields, its text, and two
hashes: of the entry before it (or of the head), and of itself. So one pass finds an edited, lost, moved or added line.

    ### 2026-11-21 05:10:24 UTC - observation: loss is flat since step 4000

    - seq: 7
    - run: gpu1/digits
    - attempt: 2
    - actor: ann
    - status: ...
    - after: 3f2a…  (hash of what stands before)

    text, as it was given

    `7 9c1b…` (hash of this entry)
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from handbook.page.phrases import clock_exact
from onbox.model.fence_signs import close_fence
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KINDS = ("decision", "observation", "launch", "escalation", "handoff", "seal", "transition", "flip")
PEOPLES_KINDS = ("decision", "observation", "launch", "escalation")
HASH_DIGITS = 16
TEXT_LIMIT = 20_000
TITLE_LIMIT = 120
EVENT_LOG = "## Event Log"

# Fields in their order; those with "" are left out.
_FIELDS = (
    "seq", "run", "attempt", "actor", "source", "status", "reason", "lineage", "evidence", "decision", "next",
    "owner", "after",
)  # fmt: skip
_HEADING = re.compile(r"### (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC) - (" + "|".join(KINDS) + r")(?:: (.*))?")
_END = re.compile(r"`(\d+) ([0-9a-f]{16})`")
_FIELD = re.compile(r"- ([a-z]+): (.*)")


class LogEntry(NamedTuple):
    """One entry. at: `2026-11-21 05:10:24 UTC`. attempt: 0: not about one. source: what an automatic entry was made
    from, so that it is made once; "" for a person's. text: any number of lines.
    """

    seq: int
    at: str
    kind: str
    title: str
    run: str
    attempt: int
    actor: str
    text: str = ""
    source: str = ""
    status: str = ""
    evidence: str = ""
    decision: str = ""
    next: str = ""
    after: str = ""
    reason: str = ""
    lineage: str = ""
    owner: str = ""


class Damage(NamedTuple):
    """Something that is not as it was written. line: from 1."""

    line: int
    what: str


class Logbook(NamedTuple):
    """A file taken apart. head: the text above the entries. whole_bytes: up to the end of the last whole entry; what
    follows is torn (an append that was cut off). last_hash: what the next entry stands after. hashes: each entry's own,
    as written.
    """

    head: str
    entries: tuple[LogEntry, ...]
    damages: tuple[Damage, ...]
    whole_bytes: int
    last_hash: str
    hashes: tuple[str, ...] = ()


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:HASH_DIGITS]


def render_head(run: str, contract: Sequence[tuple[str, str]]) -> str:
    """The head of a new logbook. contract: names and values, each one line."""
    lines = [
        f"# Run record: {run}",
        "",
        "Append-only: `handbook log` writes it, `handbook log verify` finds any change. Corrections are new entries.",
        "",
        "## Run Contract",
        "",
        *(f"- {name}: {value}" for name, value in contract),
        "",
        "## Launched Instances",
        "",
        "Each one is an entry of kind `launch` below; `handbook log show --kind launch` lists them.",
        "",
        EVENT_LOG,
        "",
    ]
    return "\n".join(lines) + "\n"


def render_entry(entry: LogEntry) -> str:
    """The entry's text, with its own hash at the end."""
    heading = f"### {entry.at} - {entry.kind}" + (f": {entry.title}" if entry.title else "")
    fields = [(name, getattr(entry, name)) for name in _FIELDS]
    lines = [heading, "", *(f"- {name}: {value}" for name, value in fields if value not in ("", 0)), ""]
    lines += [_escape(line) for line in entry.text.split("\n")] + [""] if entry.text else []
    body = "\n".join(lines) + "\n"
    return f"{body}`{entry.seq} {digest(body)}`\n\n"


def _escape(line: str) -> str:
    """A line of text that can be taken for none of ours."""
    return f"\\{line}" if line.startswith(("### ", "\\", "## ")) or _END.fullmatch(line) else line


def _unescape(line: str) -> str:
    return line[1:] if line.startswith("\\") else line


def make_entry(
    kind: str, title: str, *, at: float, run: str, actor: str, attempt: int = 0, text: str = "", **more: str
) -> LogEntry:
    """An entry that has no place yet: `place` gives it its number. Texts must be safe already."""
    entry = LogEntry(
        0,
        clock_exact(at),
        kind,
        _cut(" ".join(title.split()), TITLE_LIMIT),
        run,
        attempt,
        actor,
        _cut(text.strip("\n"), TEXT_LIMIT),
    )
    fields: dict[str, Any] = {key: " ".join(value.split()) for key, value in more.items()}
    return entry._replace(**fields)


def _cut(text: str, limit: int) -> str:
    """No fence stays open where it is cut."""
    return text if len(text) <= limit else close_fence(text[:limit])


def place(entry: LogEntry, book: Logbook, known: tuple[int, str] | None = None) -> LogEntry:
    """The entry as the next one of a logbook. known: number and hash of the newest entry that was ever written here:
    where that one is gone, the new entry still follows it, so that the gap is found for ever.
    """
    seq, after = (book.entries[-1].seq, book.last_hash) if book.entries else (0, book.last_hash)
    if known is not None and lacks(book, known):
        seq, after = max(seq, known[0]), known[1]
    return entry._replace(seq=seq + 1, after=after)


def lacks(book: Logbook, known: tuple[int, str]) -> bool:
    """Whether an entry that was written is not there any more, as it was written."""
    return known not in zip((entry.seq for entry in book.entries), book.hashes, strict=True)


# -- reading it back


def parse_logbook(text: str) -> Logbook:
    """Take a file apart and check every hash, in one pass. Never raises."""
    head, lines = _split_head(text)
    damages: list[Damage] = []
    entries: list[LogEntry] = []
    hashes: list[str] = []
    last = digest(head)
    at_line, whole = head.count("\n") + 1, len(head.encode("utf-8", "surrogateescape"))
    for block, start in _blocks(lines, at_line):
        parsed = _parse_block(block)
        if parsed is None:
            damages.append(Damage(start, "lines that are not a whole entry"))
        else:
            entry, body, own = parsed
            damages += _check(entry, body, own, last, entries, start)
            entries.append(entry)
            hashes.append(own)
            last = own
        whole += sum(len(line.encode("utf-8", "surrogateescape")) + 1 for line in block)
    whole = min(whole, len(text.encode("utf-8", "surrogateescape")))
    return Logbook(head, tuple(entries), tuple(damages), whole, last, tuple(hashes))


def _split_head(text: str) -> tuple[str, list[str]]:
    """The head with its last line break, and the lines behind it, without a last one that has no line break."""
    lines = text.split("\n")[:-1]
    for number, line in enumerate(lines):
        if _HEADING.fullmatch(line):
            return "".join(f"{one}\n" for one in lines[:number]), lines[number:]
    return "".join(f"{one}\n" for one in lines), []


def _blocks(lines: list[str], at_line: int) -> Iterator[tuple[list[str], int]]:
    """Each whole entry's lines, with the blank line behind it; a torn end is left out. At the end of the file that
    blank line may be missing: editors and commit hooks take it away.
    """
    start = 0
    for number, line in enumerate(lines):
        if _END.fullmatch(line) and (number + 1 == len(lines) or lines[number + 1] == ""):
            yield [*lines[start : number + 1], ""], at_line + start
            start = number + 2
        elif number > start and _HEADING.fullmatch(line):
            yield lines[start:number], at_line + start
            start = number


def _parse_block(block: list[str]) -> tuple[LogEntry, str, str] | None:
    """The entry, the text that its hash is of, and that hash as written."""
    heading = _HEADING.fullmatch(block[0])
    end = _END.fullmatch(block[-2]) if len(block) > 3 else None
    if heading is None or end is None or block[1] != "":
        return None
    fields: dict[str, Any] = {}
    number = 2
    while number < len(block) and (found := _FIELD.fullmatch(block[number])):
        if found[1] not in _FIELDS or found[1] in fields:
            return None
        fields[found[1]] = found[2]
        number += 1
    text = "\n".join(_unescape(line) for line in block[number + 1 : -2]).removesuffix("\n")
    seq, attempt = fields.pop("seq", ""), fields.pop("attempt", "0")
    if not (seq.isdecimal() and attempt.isdecimal() and seq == end[1] and len(seq + attempt) < 20):
        return None
    entry = LogEntry(
        int(seq),
        heading[1],
        heading[2],
        heading[3] or "",
        fields.pop("run", ""),
        int(attempt),
        fields.pop("actor", ""),
        text,
    )
    return entry._replace(**fields), "".join(f"{line}\n" for line in block[:-2]), end[2]


def _check(entry: LogEntry, body: str, own: str, last: str, before: list[LogEntry], line: int) -> list[Damage]:
    found = []
    if digest(body) != own:
        found.append(Damage(line, f"entry {entry.seq} was edited: its own hash does not fit"))
    if entry.after != last:
        found.append(
            Damage(line, f"entry {entry.seq} does not follow the entry before it: lost, moved or edited lines")
        )
    wanted = before[-1].seq + 1 if before else 1
    if entry.seq != wanted:
        found.append(Damage(line, f"entry {entry.seq} stands where {wanted} is due"))
    return found
