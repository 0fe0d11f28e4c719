"""How a log takes its leave: farewells, a listing of what there is, cleanup. Nothing of it tells of the work. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onbox.logs.model.lines import is_date, message
from onbox.regex import lazy
from onbox.triage.epilogue import HOUSEWORK

if TYPE_CHECKING:
    from onbox.triage.reading.record import SeenLine

_GONE = r"(?:removed|deleted|wiped|cleaned(?: up)?|released)"
_FAREWELL = lazy(
    r"\W{0,4}(?:\[[\w.-]{1,20}\] )?(?:(?:good ?)?bye(?: bye)?|see you\b.{0,30}|so long|ciao|farewell|tschüss|au revoir"
    r"|shutting down(?: (?:gracefully|cleanly|now))?|(?:clean|tidy)(?:ing)?[ -]?up|aufräumen (?:fertig|beendet)"
    r"|cleaning (?:up )?/\S{1,120}|(?:clean(?:ing)?[ -]?up|teardown|tidy[ -]?up) (?:is )?(?:done|finished|complete[d]?)"
    rf"|(?:temporary|temp|tmp|scratch|lock) (?:files?|dir\w*|data|space) (?:were |was )?{_GONE}"
    rf"|(?:the )?(?:workspace|scratch|sandbox) (?:was |is )?{_GONE}"
    r"|(?:the )?end of (?:the )?(?:[\w.-]{1,20} )?(?:script|log|output|job|batch)"
    r"|exiting|leaving|logging out|thank(?:s| you) for using .{1,40}"
    r"|closing (?:the )?(?:logs?|log ?file|connections?|session)|flush(?:ed|ing) (?:metrics|logs?|buffers?))\W{0,4}",
    re.IGNORECASE,
)
# What a script shows of the machine when it ends: a listing, sizes, disks, the load.
_SHOWN = lazy(
    r"-{2,40} ?(?:epilog(?:ue)?|post|end) ?-{2,40}|total \d{1,12}"
    r"|[dlbcps-][rwxst-]{9}[.+@]?\s{1,8}\d{1,9} \S{1,60}\s.{1,300}|[\d.]{1,8}[KMGT]?\t\S{1,300}"
    r"|(?:\d\d:\d\d:\d\d )?up .{1,80}load average: .{1,40}"
    r"|Filesystem\s.{1,80}|\S{1,200}(?:\s{1,30}[\d.]{1,16}[KMGTPi]{0,2}){3}\s{1,8}\d{1,3}%\s{1,8}/\S{0,200}"
    r"|\[(?:clean-?up|post|epilog(?:ue)?|trap|exit)\] .{1,60}"
    r"|::endgroup::|##\[endgroup\]|post job cleanup\.?|cleaning up orphan processes|git version \d\S{1,20}"
    r"|\[command\]\S{0,80}/git .{1,200}|(?:usr|run) .{1,80}-  (?:run|total) (?:remote|local) usage"
    r"|\d{1,20}\s{1,4}-  (?:run|total) bytes (?:sent|received) by job"
    r"|\d{1,12}\+\d{1,3} records (?:in|out)|\d{1,20} bytes (?:\([^()]{1,40}\) )?copied, .{1,60}"  # of dd
    r"|(?:post|epilog(?:ue)?|post-?job|collect\w*): (?:collecting|copying|removing|workspace"
    r"|[\w./-]{1,80} (?:not present|missing|absent|copied|collected|released|removed))\b.{0,60}",
    re.IGNORECASE,
)
_TIDIES_UP = lazy(
    r"\W{0,4}(?:step|stage|phase)?\W{0,2}\d{1,3} ?/ ?\d{1,3}\W{1,4}(?:clean|tidy|tear|remov|notif|upload|archiv)\w*"
    r"(?:[ -]?(?:up|down))?(?: \w{1,20})?(?: (?:ok|done))?\W{0,3}",
    re.IGNORECASE,
)
PARTINGS = 24  # lines, at most


def without_partings(tail: tuple[SeenLine, ...]) -> tuple[SeenLine, ...]:
    """The last lines without those at their end that only take leave. Never empty where `tail` is not."""
    end = len(tail)
    while end > max(1, len(tail) - PARTINGS) and takes_leave(tail[end - 1].text):
        end -= 1
    return tail[:end]


def takes_leave(text: str) -> bool:
    """Whether a line only takes leave."""
    said = message(text).text.strip()
    return is_date(text) or any(one.fullmatch(said) for one in (_FAREWELL, _SHOWN)) or HOUSEWORK.match(said) is not None


def tidies_up(said: str) -> bool:
    """Whether a line, without its prefixes, is a step of a script in which nothing is worked on: `[5/5] cleanup`."""
    return _TIDIES_UP.fullmatch(said) is not None
