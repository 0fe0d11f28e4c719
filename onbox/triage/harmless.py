"""Whether a line speaks of nothing that is wrong now, whatever words it holds: counts of none, figures. Pure."""

from __future__ import annotations

import re

from onbox.regex import lazy
from onbox.triage.reading import going_on, signs
from onbox.triage.reading.match import TRACKER
from onbox.triage.reading.success import is_success, is_test_case
from onbox.triage.words import STOPS

_NOTHING_WRONG = lazy(
    r"\b(?:0|zero) (?:[\w-]+ ){0,3}(?:problems?|objects?|issues?|faults?|violations?|conflicts?|alerts?)\b|\bxid none\b"
    r"|\bnothing to (?:do|be done)\b(?!.{0,60}\b(?:errors?|fail\w*|missing)\b)"
    r"|\bnone (?:violated|exceeded|breached|failed|missing)\b"
    r"|\b(?:0|no|zero|without(?: any)?) (?:\w+ ){0,2}(?:errors?|fail(?:ures?|ed|s)|kills?|missing|corrupt|lost"
    r"|problems?|panics?|crashes|issues?)\b"
    r"|\berrors?\W{0,3}[:=]\s?(?:-|none|null|nil|n/?a|false|''|\"\"|\[\]|\{\})(?=[\s,;)}\]]|$)"
    r"|\bno (?:process|job|task|pod|worker|container|node)(?:es|s)? (?:\w{2,5} )?(?:killed|lost|evicted|dead|aborted)\b"
    r"|(?<![a-z])(?:train|val|valid|eval|test|dev|mean|word|char)[-_/ ]error(?: \[\d{1,6}\])?[\s:=]{1,3}\[?"
    r"(?:[a-z-]{2,20}:)?\d"
    r"|\berr(?:or)?\b[\w ()-]{0,24}?[\s:=]{1,3}-?\d{1,9}\.\d{1,20}(?:e[-+]?\d{1,3})?\W{0,3}$"
    r"|\berrors? (?:is |stays? )?(?:below|under|within|less than|at most)\b"
    r"|\bstd\.? err(?:or)?\b|\bstandard errors?\b"  # of statistics
    r"|\b(?:(?<!gave up )waiting|pending|queued|scheduling)\b(?!.{0,80}\bgiving up\b)"
    r"|\bnodes are available\b"  # it has not begun yet
    r"|\b(?:stopping|convergence|termination|tolerance|target)(?: criteri(?:on|a))? (?:was |were |is )?(?:met"
    r"|reached|satisfied)\b"
    r"|(?:'[\w ./-]{1,40}': \d{1,12}(?:, |\})){2}"  # as Python shows counts
    r"|[|\t]\s{0,8}[\d.,]{1,20}\s?%?\s{0,4}$"  # or a row of statistics
    r"|[:=]\s{0,8}(?:[\d.,]{1,20}\s?%|0(?:\.0*)?)\s{0,4}$|[a-z]\s{1,40}0?\.\d{1,6}\s{0,4}$"
    r"|(?<!not )\b(?-i:PASS(?:ED)?|OK)\W{0,4}$|(?<!not )\bpassed(?: \([^()]{1,60}\))?\W{0,4}$"
    r"|(?:[a-z][\w ]{0,30}: [\d.]{1,12} - ){2}"  # or its shares
    r"|^\s{0,8}reason: (?:Missing output|Updated input|Input files|Forced|Code has|Params have)"  # of Snakemake
    r"|^(?:reads|records|rows|samples|sequences|bases|pairs|variants|sites|items|files)\b[^:]{0,60}: [\d,.]{1,20}$"
    r"|(?:\b(?-i:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)[ :=]{1,3}\d{1,9}[,;"
    r"| ]{1,4}){2}"  # how many of each level
    r"|^\W*(?:failed|errored|pruned|skipped|rejected|invalid) [a-z]{3,16}\s?[:=]\s?\d{1,9}\W*$"
    r"|\bno (?:FATAL|ERROR|CRITICAL|WARN\w{0,4}) (?:rows|lines|entries|messages|records|events)\b"
    r"|^\W{0,3}(?:mean|median|average|avg|std|min|max)\b[^:=]{0,60}[:=]\s?-?[\d.,]{1,24}(?:e[-+]?\d{1,3})?\s?%?\W{0,3}$"
    r"|\bno (?:license|repository) field\b|\bno readme data\b"  # of npm
    r"|\bto see all .{0,20}messages\b|\breminds you: \"",  # of Open MPI, of GROMACS
    re.IGNORECASE,
)
_FIGURES = lazy(  # and next to no words before them: what stands behind a sentence are its details
    r"(?:[^\s=]{1,80}\s{1,40}){0,5}(?!(?:ts|time|level|lvl|msg)=)(?!PASS=\d{1,6} WARN=\d{1,6} ERROR=[1-9])"
    r"\w{1,40}=\S{1,40} \w{1,40}=\S{1,40} \w{1,40}=",
    re.IGNORECASE,
)
_STOPS_EARLY = lazy(r"(?i)^\W{0,4}early[ -]?stopping\b(?!.{0,40}\b(?:error|fail|nan)\w*)")
_REMARK = lazy(  # of another level than the loggers': `lib: Warning: ...`, or a text that is only shown
    r"^(?:\S{1,60} ){0,3}(?:note|notice|info|hint|tip|warning|debug)\s?:|[A-Z]\w{0,40}Warning\b|warnings\.warn\("
    r"|[\"'\u201c]\S{1,60}\s.{0,140}[\"'\u201d]\s{0,4}$|\?",
    re.IGNORECASE,
)


def is_harmless(said: str, text: str, *, loud: bool = False) -> bool:
    """Whether a line speaks of nothing that is wrong now. said, text: without and with its prefixes. loud: it calls
    itself an error, so that a hedge or a quotation in it is a part of what it says.
    """
    return bool(
        (going_on.is_handled(text) and not signs.STOPPED.search(text))
        or is_success(said)
        or is_test_case(said)
        or going_on.SET_ASIDE.search(text)
        or signs.ARGUMENT_TAKEN.search(text)
        or signs.HOUSEKEEPING.search(text)
        or signs.is_of_another_time(text)
        or going_on.MEANT.search(text)
        or signs.INSTRUCTS.search(text)
        or (not loud and (signs.HEDGED.search(text) or signs.HEDGED.search(said)))
        or signs.is_of_another(text)
        or signs.is_record(text)
        or signs.names_columns(text)
        or TRACKER.match(text)
        or _STOPS_EARLY.search(said)
        or _NOTHING_WRONG.search(text)
        or _FIGURES.match(said)
        or (not loud and _REMARK.search(text) and not STOPS.search(text))
    )
