"""A piece of news as the message that people read. Every text is bounded; who puts it in the outbox masks it. Pure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from onbox.contract.notices import PATROL_DIGEST, PATROL_DONE, PATROL_RECOVERED, PATROL_TROUBLE, Notice
from onbox.contract.readings import observed
from onbox.logs.farewell import is_farewell
from onbox.model.units import format_duration
from onbox.outside import safe_line
from onbox.system.clock import utc_text
from patrol.decide.box_scene import seen
from patrol.decide.phrases import clean
from patrol.report.lines import name_of
from patrol.report.short import CAUSE_LIMIT, FAILED_RULES, cause_in_short, said
from patrol.tell.digest import digest_counts, digest_lines, how_long
from patrol.tell.news import worst_told
from patrol.verdict import Severity

if TYPE_CHECKING:
    from patrol.judge import Judged
    from patrol.tell.news import News

RUNS_NAMED = 6
TEXT_LIMIT = 500
SAY_LIMIT = 300
YOUNG_SECONDS = 60.0


def notice_of(news: News, id_: str, *, folder: str, host: str, now: float) -> Notice:
    """The message. folder: the project's, here."""
    if news.kind == PATROL_DIGEST:
        return _digest(news, id_, folder=folder, host=host, now=now)
    now = min(now, *(box.snapshot.at for box, _ in news.runs))  # its ages are of the look, whenever it is read
    first = news.runs[0][1]
    verdict, alone = first.verdict, len(news.runs) == 1
    worst = worst_told(verdict)
    state = {PATROL_RECOVERED: "recovered", PATROL_DONE: "done"}.get(news.kind) or _state(first, news.cause)
    return Notice(
        id=id_,
        at=utc_text(now),
        event=news.kind,
        state=state,
        run=_label(news),
        run_id=(first.after.run_id or "") if alone else "",
        project=folder,
        host=host,
        reason=_text(_reason(news, first) + _last_of_today(news, now)),
        proof=_text(_proof(first)) if alone else None,
        remedy=_text(worst.remedy) if news.kind == PATROL_TROUBLE else None,
        progress=_text(
            " · ".join(filter(None, (_progress(news, first), _when(news, first, now)))) if alone else _names(news)
        ),
        next_command=_command(news, first),
    )


def withheld_notice(id_: str, words: str, *, folder: str, host: str, now: float) -> Notice:
    """That a timer meets keys which nobody has accepted: nobody is there to be asked."""
    return Notice(
        id=id_,
        at=utc_text(now),
        event=PATROL_TROUBLE,
        state="NOT ACCEPTED",
        run=safe_line(os.path.basename(folder) or folder, 60),
        run_id="",
        project=folder,
        host=host,
        reason=_text(words),
        next_command="onbox trust",
    )


def _digest(news: News, id_: str, *, folder: str, host: str, now: float) -> Notice:
    runs = [run for _, run in news.runs]
    return Notice(
        id=id_,
        at=utc_text(now),
        event=news.kind,
        state="still watched",
        run=safe_line(os.path.basename(folder) or folder, 60),
        run_id="",
        project=folder,
        host=host,
        reason=_text(digest_counts(runs)),
        progress="\n".join(safe_line(line, TEXT_LIMIT) for line in digest_lines(runs, now)) or None,
        next_command="patrol tick"
        if any(worst_told(run.verdict).severity is not Severity.OK for run in runs)
        else None,
    )


def _last_of_today(news: News, now: float) -> str:
    """Said with the last message of its kind for today, so that the silence after it is no surprise."""
    if news.quiet_until <= now:
        return ""
    return f"; this came too often: it is not told again for {format_duration(news.quiet_until - now)}"


def _state(run: Judged, cause: str) -> str:
    if cause == "unreachable":
        return "UNREACHABLE"
    return run.verdict.state.value.upper() if run.verdict.run else run.verdict.severity.name


def _label(news: News) -> str:
    """`box/run`, `box (20 runs)`, or `24 runs on 5 boxes`."""
    if len(news.runs) == 1:
        return name_of(news.runs[0][1].verdict)
    boxes = {box.box.name for box, _ in news.runs}
    runs = [run for _, run in news.runs if run.verdict.run]
    if len(boxes) == 1:
        return f"{safe_line(next(iter(boxes)), 48)} ({len(runs)} runs)"
    return f"{len(runs)} runs on {len(boxes)} boxes" if runs else f"{len(boxes)} boxes"


def _reason(news: News, first: Judged) -> str:
    """In a few words, and behind a semicolon what else is known: the title takes the words."""
    worst = worst_told(first.verdict)
    if news.kind == PATROL_RECOVERED:
        now = f"{first.verdict.state.value.upper()} again" if len(news.runs) == 1 else "well again"
        now += f", {worst.say}" if worst.severity is not Severity.OK else ""
        return f"{now} (was {news.cause})"
    alone, look = len(news.runs) == 1, first.look
    if news.kind == PATROL_DONE:
        return " · ".join(filter(None, said(first.verdict, look))) if alone else "all runs are done"
    short = clean(cause_in_short(worst, first.verdict, look), CAUSE_LIMIT)
    of_failure = look is not None and worst.rule in FAILED_RULES and seen(look.failure)
    whole = clean(look.reason, SAY_LIMIT) if look is not None and of_failure else clean(worst.say, SAY_LIMIT)
    if worst.rule == "repeated-failure":  # how often comes first
        whole = "; ".join(filter(None, (worst.say.partition(": ")[0], whole if of_failure else "")))
    words = whole if f"{whole};".startswith(f"{short};") else "; ".join(filter(None, (short, whole)))
    return words + (f"; {first.verdict.last_known}" if first.verdict.last_known and alone else "")


def _names(news: News) -> str:
    names = [name_of(run.verdict) for _, run in news.runs]
    more = len(names) - RUNS_NAMED
    return ", ".join(names[:RUNS_NAMED]) + (f" and {more} more" if more > 0 else "")


def _proof(run: Judged) -> str:
    failure = observed(run.look.failure) if run.look is not None else None
    return failure.proof if failure is not None and not is_farewell(failure.proof) else ""


def _when(news: News, run: Judged, now: float) -> str:
    """Since when it is so, where that is not only this look."""
    verdict = run.verdict
    if news.kind != PATROL_TROUBLE or now - verdict.since < YOUNG_SECONDS:
        return ""
    return f"{_state(run, news.cause)} {how_long(verdict, now)}"


def _progress(news: News, run: Judged) -> str:
    """How far it was, and how old that is; of one that is done its results are told."""
    look = run.look if news.kind != PATROL_DONE else None
    progress = observed(look.progress) if look is not None else None
    if look is None or progress is None or progress.current is None:
        return ""
    total = f"/{progress.exact_max}" if progress.exact_max is not None else ""
    stage = observed(look.stage)
    log = observed(look.log)
    age = log.written_age_seconds if log is not None else None
    words = f"{stage or ''} at {progress.current:.12g}{total}".strip()
    return words + (f", log written {format_duration(age)} ago" if age is not None else "")


def _command(news: News, first: Judged) -> str | None:
    """What to type in the project's directory here. Of a recovery nothing; of many runs, the look at all."""
    if news.kind == PATROL_RECOVERED:
        return None
    one = first.verdict.finding.command if news.cause == first.verdict.finding.rule or news.kind == PATROL_DONE else ""
    one = one or worst_told(first.verdict).command or first.verdict.finding.command
    boxes = {box.box.name for box, _ in news.runs}
    return one if one and len(boxes) == 1 else "patrol tick"


def _text(words: str) -> str | None:
    return safe_line(words, TEXT_LIMIT) or None
