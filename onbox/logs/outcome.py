"""What the last line of a log says of the work: it is there, or it will not be. Pure.

Everybody words the end of a program in a way of their own, but with the same common words: what has been made (saved,
written, published), what is of no use any more (lost, incomplete, given up), and what turns the one into the other
(not, never, none of). Two vocabularies and a rule of negation read more of them than a list of sentences.
"""

from __future__ import annotations

import enum
import re

from onbox.logs.model.lines import message
from onbox.regex import lazy


class Outcome(enum.Enum):
    """MADE: the work is there. LOST: it will not be."""

    MADE = "made"
    LOST = "lost"


def _any_of(words: str) -> str:
    return "|".join(words.split())


LINE_LIMIT = 300
# No words that are said of preparations as well: loaded, installed, registered, checked.
_MADE = lazy(
    r"\binstalled [\w./-]{1,80}\.\w{1,8}$"
    r"|\b(?:(?<!\ba )(?<!\bthe )complete(?:d|(?! (?:log|output|list|error|trace\w*|stack|report|message)s?\b))"
    r"|(?:up to|(?<!file )in) (?:date|place|sync)|backed up|all (?:good|set)|as expected|"
    + _any_of(
        "finished done ready saved written wrote stored published uploaded pushed released exported delivered shipped "
        "committed merged built produced created generated assembled packed archived deployed sealed trained fitted "
        "evaluated scored graded judged passed succeeded successful successfully ok okay converged synced synchronized "
        "transferred copied moved converted indexed emitted persisted posted solved verified intact clean usable "
        "consistent identical collected gathered processed rendered compiled ingested computed calculated simulated "
        "sampled labeled labelled annotated translated summarized drawn plotted printed reported recorded counted "
        "approved frozen filled covered tokenized embedded encoded decoded downloaded "
        "clustered ranked sorted deduplicated split shuffled mirrored fetched extracted imported inserted "
        "scanned crawled scraped measured benchmarked"
    )
    + r")\b"
    r"|\b(?:geschrieben|gespeichert|fertig|abgeschlossen|erledigt|erstellt|écrite?s?|enregistrée?s?|terminée?s?"
    r"|sauvegardée?s?"
    r"|escrit[oa]s?|guardad[oa]s?|terminad[oa]s?|completad[oa]s?|finalizad[oa]s?|salv[oa]s?|gravad[oa]s?"
    r"|conclu[ií]d[oa]s?"
    r"|scritt[oaie]|salvat[oaie]|completat[oaie]|сохран\w+|записан\w*|заверш[её]н\w*|готово)\b"
    r"|已(?:经)?(?:保存|完成|写入|生成|导出)|(?:保存|完了|完成|出力)しました|(?:저장|완료)(?:되었|했|됨)",
    re.IGNORECASE,
)
_LOST = lazy(
    r"\b(?:g[ai]v(?:es?|en|ing) (?:(?:it|this|that) )?up|(?:no|any) (?:use|point|good|value|sense|worth)|in vain"
    r"|for nothing|beyond (?:repair|rescue|hope|saving)|call(?:ed|ing) (?:it )?off|bail(?:s|ed|ing)? out"
    r"|walk(?:s|ed|ing)? away|(?:end|stop)(?:s|ing)? here|not enough|enough is enough|last (?:try|time|attempt|chance)"
    r"|too (?:many|few|much|little|late|small|large|big|short|long)"
    r"|out of (?:tries|attempts|retries|luck|patience|options|ideas|budget|time|memory|space|room)"
    r"|(?:upload|sav|writ|export|publish|push|copy|send)\w{0,3}ing nothing"
    r"|nothing to (?!(?:be )?done?\b|commit|update|repair|fix|clean|delete|merge|migrate|report|sync)\w+"
    r"|no (?:longer possible|way (?:on|forward|out|to)|further)|cannot|can't|could(?: not|n't)|(?:un|not )able to"
    r"|[1-9]\d{0,5} errors?|(?:status|code|rc|exit(?:ed with)?|returned)\W{1,3}[1-9]\d{0,2}(?![.,]?\d| ?(?:m?s"
    r"|secs?|seconds"
    r"|min|minutes|h|hours)\b)"
    r"|(?:finished|ended|completed|done) with [1-9]\d{0,2}(?= (?:at|on|after|in)\b|\W*$)"
    r"|(?:abort|halt|reject|fail)(?:s|ed|ing)?|quitting|(?:refus|declin)(?:es?|ed|ing)|abandon(?:s|ed|ing)?|failures?|"
    + _any_of(
        "unusable unfinished unpublished unsaved unscored untrained unwritten unsent undelivered unsolved unresolved "
        "unrecoverable unsuccessful unsuccessfully undone unbuilt unprocessed untested unreachable unreadable "
        "unstable untrustworthy useless worthless pointless meaningless hopeless lost incomplete partial partially "
        "forbidden denied dead(?![-\\s]letter) died crashed broken killed stuck wedged hung ruined spoiled doomed "
        "poisoned wrecked impossible missing insufficient canceled cancelled scrapped withdrawn sorry alas "
        "unfortunately wasted"
    )
    + r"|abnormal(?:ly)? (?:terminat\w+|ended|end|exit)|without success)\b"
    r"|^\W{0,3}(?:abbruch|abgebrochen|interrompue?|arrêt|interrotto|interrumpido|interrompido|прервано|остановлено)\b"
    r"|(?:训练|运行|任务|程序)(?:已)?中止|中断しました|중단(?:되었|했|됨)",
    re.IGNORECASE,
)
_BETWEEN = r"\b(?:\W+\w+){0,6}\W+$"  # a few words at most, up to what is denied
_DENIED = lazy(
    rf"\b(?:{_any_of('not never nothing none nobody no cannot neither nor hardly without')}|\w+n't"
    rf"|{_any_of('nicht kein keine pas não не niet nie')}|non(?=\s)"
    rf"|unable to|fail(?:s|ed)? to){_BETWEEN}",
    re.IGNORECASE,
)
_NOTHING_BEHIND = lazy(  # `done 0` ends with a code
    r"(?! 0\W*$)\W{1,3}(?:nothing|none|no|0)\b(?!\W{1,3}(?:errors?|failures?|lost|missing))", re.IGNORECASE
)
_NOTHING_BEFORE = lazy(  # `0 rows written`, not `fold 0 finished`
    r"(?:^\s*|[^\w.,/\s]\s?|\b(?:only|just|with|and|but|of|has|had|have|got|are|were|is|was) )"
    r"0 (?:\w+ ){0,2}(?:were |was |are |is )?$"
)
_NOT_YET = lazy(
    rf"\b(?:{_any_of('if when once until before unless while after being')}|instead of"
    rf"|(?:to|will|can|may|must|should) be){_BETWEEN}",
    re.IGNORECASE,
)
# A figure's name, or how many there are of it beside others.
_FIGURE_BEHIND = lazy(
    r"^\w*[\"']?(?: \w+)?\s?(?:\(s\))?\s{0,20}[:=]?\s{0,8}\[?\d(?!\d{0,8} ?/)|^\w*[\"']?[:=](?! ?\d{1,9} ?/)"
)
_PART = lazy(r"(?<![\w.,/:-])(\d{1,9}) ?(?:/|of|out of) ?(\d{1,9})(?![\w./:%-])")
# What is over, or does not matter: `previous failures were transient`.
_NO_MATTER = lazy(r"\b(?:transient|temporary|recovered|resolved|tolerated|harmless|ignored|overcome)\b", re.IGNORECASE)
# What is called after a failure, and is none.
_NAMES_BEHIND = lazy(
    r"^\w* (?:threshold|tolerance|rate|probabilit\w+|criteri\w+|budget|analysis|model|mode|bound|bar|handling)s?\b"
)
_FIELD = lazy(r"[\"']\s?:|=")  # of a record: `"ok": 2`, `built=True`
_COUNT_BEFORE = lazy(r"\d\s{1,3}(?:\w+ )?$")
_LEAVES = lazy(
    r"\b(?:shut\w*|clos\w+|clean\w*|exit\w*|disconnect\w*|releas\w+|pool|cache|threads?|epilog\w*)\b", re.IGNORECASE
)
_NONE_OF_THEM = lazy(r"(?<![\w.,])0 [a-z]", re.IGNORECASE)
NOTHING_TO_DO = lazy(  # then it is right that nothing came
    r"\b(?:unchanged|up[- ]to[- ]date|already|cached|nothing (?:to do|new|changed)|dry[- ]run|skipp)", re.IGNORECASE
)
_SOME_FAILED = lazy(r"\b(?:errors?|fail\w*|crash\w*)\s?[:=]\s?[1-9]", re.IGNORECASE)
_CLAUSES = lazy(r"[,;(\u2013\u2014]| --? |\. |\bbut\b|\band\b|[-=]>")
# The code says more than the word: `Job script finished (status 1)`.
_ENDED_WITH = lazy(
    r"\b(?:finished|ended|exited|done|completed?|terminated|stopped)\W{1,3}(?:with )?"
    r"(?:exit ?|return ?)?(?:status|code|rc)"
    r"\W{1,3}"
    r"[1-9]\d{0,2}\)?\W{0,2}$",
    re.IGNORECASE,
)
# `tidy: 0 renamed, 0 clashes solved`: there was nothing to do.
_COUNTS_ZEROS_ONLY = lazy(
    r"\W{0,4}(?:[\w.-]{1,30}: )?0 (?!of)[a-z ]{2,30}(?:, (?:and )?0 [a-z ]{2,30}){1,4}\W{0,3}", re.IGNORECASE
)
_DID_SOME = lazy(r"\W{0,4}(?:\w{1,20}: )?[a-z]{4,14}ed [1-9]\d{0,8}\b(?! ?(?:of|/))", re.IGNORECASE)
_SOME_COULD_NOT = lazy(
    r"\W{0,4}[1-9]\d{0,8} (?:\w{1,20} ){0,2}(?:(?:could|can) ?not|not|failed|were lost)\b", re.IGNORECASE
)
_ADVISES = lazy(
    rf"^\W{{0,4}}(?:{_any_of('set see please try use check run note you hint tip add consider if')})\b", re.IGNORECASE
)


def outcome_in(text: str) -> Outcome | None:
    """What the clauses of a line say of the work; None where they do not agree, or say nothing of it. text: without
    counts of what is none ("0 errors").
    """
    said = message(text.replace("_", " ") if text.isupper() else text)  # JOB_FINISHED
    if text[:1].isspace() or _ADVISES.search(said.text) or said.level in ("WARNING", "DEBUG"):
        return None
    if ended_with_code(said.text[:LINE_LIMIT]):
        return Outcome.LOST
    clauses = _CLAUSES.split(said.text[:LINE_LIMIT])
    told = {_of_clause(clause) for clause in clauses} - {None}
    if len(told) > 1 or (told == {Outcome.LOST} and counts_both(said.text)):
        return None
    if _LEAVES.search(said.text) or _SOME_FAILED.search(said.text):
        told -= {Outcome.MADE}
    found = next(iter(told), None)
    if found is Outcome.LOST and (_counts_nothing_new(said.text) or _COUNTS_ZEROS_ONLY.fullmatch(said.text)):
        return None
    return found


def counts_both(text: str) -> bool:
    """Whether a line counts what went well, and what did not: `recompressed 8 files, 2 could not be processed`."""
    clauses = _CLAUSES.split(text[:LINE_LIMIT])
    return bool(_DID_SOME.match(clauses[0])) and any(_SOME_COULD_NOT.match(clause) for clause in clauses[1:])


def _counts_nothing_new(text: str) -> bool:
    """`uploaded 0 files, 120 unchanged`."""
    return _NONE_OF_THEM.search(text) is not None and NOTHING_TO_DO.search(text) is not None


def ended_with_code(text: str) -> bool:
    """Whether a line closes with a code of failure."""
    return _ENDED_WITH.search(text) is not None


def _of_clause(text: str) -> Outcome | None:
    lost = [hit for hit in _LOST.finditer(text) if not _is_figure(hit, text)]
    if lost and _NO_MATTER.search(text):
        return None
    if lost:
        return None if all(_DENIED.search(text[: hit.start()]) for hit in lost) else Outcome.LOST
    made = False
    for hit in _MADE.finditer(text):
        before, behind = text[: hit.start()], text[hit.end() :]
        if _NOT_YET.search(before) or _FIELD.match(behind):
            continue
        if not made and any(int(part[1]) < int(part[2]) for part in _PART.finditer(before)):
            return None  # `31 of 96 files moved`: not all of it
        if _DENIED.search(before) or _NOTHING_BEHIND.match(behind) or _NOTHING_BEFORE.search(before):
            return Outcome.LOST  # also where the file has its name of what was to be done: `merged file not written`
        made = True
    return Outcome.MADE if made else None


def _is_figure(hit: re.Match[str], text: str) -> bool:
    if hit[0][-1].isdigit() or " " in hit[0]:  # an exit code; `giving up after 3 attempts`
        return False
    behind = text[hit.end() :]
    counted = _COUNT_BEFORE.search(text[: hit.start()])
    return bool(counted or _FIGURE_BEHIND.search(behind) or _NAMES_BEHIND.search(behind))
