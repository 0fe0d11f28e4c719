"""Whether a log's last lines sum up what was done: what was saved, how long it took, what came out. Pure.

Such words are no sign of an end where they stand between two steps, so they count only behind the last counter, and
only if the lines before it do not say the same.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

from onbox.logs.farewell import is_farewell
from onbox.logs.judge.results import is_figures, is_record, is_value
from onbox.logs.judge.rising import Rising, rising
from onbox.logs.line.percents import read_percent
from onbox.logs.line.read import read_line
from onbox.logs.line.remarks import CRASHED, turn_of
from onbox.logs.line.words import AUXILIARY
from onbox.logs.model.lines import message, readable
from onbox.regex import lazy

TAIL_BYTES = 8192
LAST_LINES = 3  # are looked at where no line shows a counter
LINES_AFTER = 30  # of what is still said behind the word of an end
LOOPED = 5  # times that a form of line came: it is the loop's
HEAD_LINES = 4  # of a table, with the rules over and under it
LOOP_LINES = 12  # of such forms, until one of another form behind them tells of their end
_BREAKS = lazy(rb"[\r\n]+")
_DURATION = r"\d+(?:\.\d+)?\s?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|ms)\b|\d+:\d\d"
_PARTIAL = r"(?!.{0,80}(?:checkpoint|ckpt|snapshot|\bstep|\bepoch|\biter|\bbest\b))"
_CLOSING = lazy(
    r"(?i)^\W*(?:done|finished|completed?|converged|summary|results?)\b"
    r"|^\W*(?:tasks?|script|program|process|pipeline|work) (?:(?:is|was|has) )?(?:done|finished|completed?|over)\W*$"
    rf"|^\W*(?:saved|wrote|written|exported|dumped|uploaded|stored)\b{_PARTIAL}"
    r"|\b(?:model|weights|results?|predictions?|report|metrics|output|pipeline|embeddings|samples?|trace|file|archive)"
    rf"\b.{{0,40}}\b(?:saved|written|exported|stored|uploaded)\b{_PARTIAL}"
    r"|\bsuccessfully (?:installed|built|downloaded|saved|completed|finished|exported|uploaded|converted|processed"
    r"|wrote|ran)|\b(?:took|elapsed|total time|wall[- ]?(?:clock )?time|runtime|run time|finished in|in total)\b"
    rf".{{0,20}}?(?:{_DURATION})|^real\s+\d+m[\d.]+s|\b(?:added|audited|changed) \d+ packages?\b|\brecords out$"
    r"|\bsaved \[\d+(?:/\d+)?\]|^total size is \d|^\W*test(?:ing)? (?:accuracy|loss|score|results?)\b"
    r"|^\W*all\b.{0,40}\b(?:done|complete|written|\w{3,12}ed)\b|^\W*(?:best|final)(?![a-z]).{0,40}\d"
    r"|\b(?:best|final|overall|test|number of|mean|average)\b[\w ./-]{0,30}\s?[:=]\s?\S"
    r"|\b(?:final|overall) (?:\w+ ){0,2}(?:loss|accuracy|acc|score|reward|energy|error|perplexity|bleu|f1|auc|result)\b"
    r"|^\W*(?:performance|throughput):|\b\d+ (?:passed|failed|errors?|warnings?) in \d|^\W*(?:ok|success)\W*$"
    r"|^\W*best(?:test|iteration|score)\s?=|^\W*(?:run status group \d|disk stats \()|\breal time: \d"
    r"|\bfinal values? used\b|\b(?:\w{3,12}ed) successfully"
    r"|\biterations were performed\b|\bmuxing overhead|^\W*model (?:was |has been )?trained\W*$"
    r"|\b\d\d\s?% (?:ci|hdi|hpd|confidence|credible)\b|^\W*(?:n_eff|ess|r[_ -]?hat|divergences)\b"
    rf"|^\W*(?:time|duration):\s{{1,12}}(?:{_DURATION})\W*$|^\W*ran all\b|^\W*everything\b.{{0,20}}\bok\b"
    r"|^\W*[\d,]{1,20} [a-z]{3,20} (?:written|[a-z]{3,14}ed)\b"
    r"|\b(?:conclu[ií]d[oa]s?|finalizad[oa]|terminad[oa]|completad[oa]|terminée?|abgeschlossen|beendet|completat[oa]"
    r"|заверш\w{1,6}|закончен\w?)\b"
    r"|^\W*(?!.{0,40}\b(?:eval|valid|warm|load|init|setup|start|checkpoint|epoch|step|stage|phase))"
    r"(?:[a-z][a-z-]{2,19} ){1,3}(?:is |was )?(?:complete|completed|finished)\b"
    r"|\boptimal (?:solution|value|objective)\b"
    r"|\b(?:ended|finished|completed|stopped|terminated) (?:at|on)\b.{0,30}\d{1,4}[:/.-]\d\d"
    r"|\bdone (?:generat|writ|sav|process|plott|comput|evaluat|predict|export|convert)\w{1,8}\b"
    r"|\b(?:total|overall|whole|entire)\b (?:\w+ ){0,2}(?:time|duration|runtime)\b.{0,24}?\d"
    r"|^\W*final (?:performance|timing|statistics|summary|report|metrics)\b|^\W*best \w+ (?:is|was) (?:at|from|found)\b"
    r"|^[\w.$]{1,60} - (?:all )?(?:done|finished|completed)\W*$|^attr\(,\"|^\$\w{1,40}(?:\$\w{1,40}){0,4}$"
    r"|\bmean\s{1,20}\(?(?:std|sd)\b|\b0 errors?\b|\bkb/s:\d|\blifecycle event\b|\bbuild (?:succeeded|successful)"
    r"|^\W*(?!.{0,40}\b(?:epoch|step|iter|iteration|fold|batch|round|stage|phase|loop|cycle)\b)"
    r"end(?: (?:of )?[\w./-]{1,40}){0,2}\W*$"
    r"|^\W*(?:the end|that'?s (?:it|all)|fertig|ende|fini|finish|完成|完了|结束|終了|완료)\W*$"
    r"|^\W*end(?:ed)?[ _-]?time\b.{0,20}\d"
    r"|^\W*(?:session|program|script|job|run|process) (?:ended|ok|succeeded)\W*$"
    r"|\breturn(?:ed)? (?:code|status)\W{0,3}0\b|^\W*status\W{1,3}(?:success\w*|ok|succeeded|completed)\W*$"
    r"|\b(?:tol|tolerance|target|goal) (?:was )?reached\b"
    r"|\breached (?:the )?(?:tol|tolerance|target|goal|convergence)\b"
    r"|^\W*all tests (?:successful|passed)\b|^\W*pass\W*$|^ok\s{2,8}\S{1,200}\s{1,8}\d+\.\d+s$"
    r"|\bno improvement\b.{0,40}\bstop(?:ped|ping)?\W*$"
)
_OF_A_PREPARATION = (
    r"(?!.{0,40}\b(?:load|compil|init|import|read|start|cach|warm|connect|epoch|step|iter|batch|eval|valid|sav"
    r"|timed|crash|interrupt|stopp|kill|fail|abort|cancel|died|gave|gives|suspend|paus|expir))"
)
_TOOK = lazy(  # `sampled in 12.3 s`, `3m12s total`, R's and Julia's words
    rf"(?i)^\W*{_OF_A_PREPARATION}(?:ran|[a-z]{{2,12}}ed)\b[a-z ,]{{0,30}}\bin (?:{_DURATION})\W*$"
    rf"|^\W*(?:{_DURATION}) (?:in )?total\W*$|^\W*wall[- ]?time\W{{1,3}}\d"
    r"|^\W*ran \d{1,9} tests? in \d|^\s*user\s+system\s+elapsed\s*$|^\s*\d+\.\d+ seconds \(\d"
)
_SAYS_SO = lazy(
    r"(?i)\b(?:done|finished|completed?|success\w*|saved|written|wrote|ended|end|best|final)\b"
)  # behind an error too
_LEAVES = lazy(r"(?i)^\W*(?:terminat\w+|exiting|goodbye|bye)\b")  # said after an error as well
_GRAVE = frozenset({"ERROR", "CRITICAL", "FATAL"})
_FAILS = lazy(
    r"(?i)\b(?:execution|job|step|stage|task|rule|command|run|script|process)\b.{0,24}\b(?:failed|aborted"
    r"|killed)\b|\bdid not (?:complete|finish|succeed)|\bnot (?:complete|finish|succeed)"
)
_PROMPT = lazy(
    r"(?:\([\w. -]{1,40}\) ?)?(?:PS [A-Z]:\\[^>]{0,200}>|\[?[\w.-]{1,40}@[\w.-]{1,80}[: ][^$#]{0,120}[$#])\s{0,20}$"
)
_PART = lazy(r"(?<![\w./])(\d{1,9})/(\d{1,9})(?![\w./])")
_MIDWAY = lazy(
    r"(?i)\b(?:best|mean|average|current)\b.{0,20}\b(?:so far|yet|is trial)\b|^\W*(?:resum|start|load|restor)"
)


_PREPARED = lazy(
    r"(?i)\b(?:load|initiali[sz]|init|captur|warm|set ?up|start ?up)\w*\b.{0,60}\b(?:finished|done|took|ready)\b"
)
# A logger's name before its level, where `message` leaves it.
_NAMED_LEVEL = lazy(r"^[\w.$-]{1,60}\s{1,80}\[?(?:DEBUG|INFO|NOTICE|WARN(?:ING)?)\s{0,8}\]?[\s:|-]{1,20}")
_OF_THE_LOOP = lazy(
    r"(?i)(?<![a-z])(?:val|valid\w*|dev|eval\w*|epoch\w*|step\w*|iter\w*|lr|learning|rate|loss|sav\w+|checkpoint|gpu"
    r"|cuda|mem\w*|load\w*|batch\w*|seed|size|round|gen|generations?|episode\w*|best|new|start\w*|using|pid|port|so far"
    r"|current\w*|temp\w*)(?![a-z])"
)
_OF_THE_BEST = lazy(r"(?i)^\W*(?:best|final|overall)\b")
_WHOLE = lazy(r"(?<![\d.])\d{1,9}(?![\d.])")
_FAILED = lazy(r"(?i)^\W*(?:failed|failure|fatal|aborting|giving up)\b(?! tests?\b)")
_FATAL = lazy(r"^\W*(?:FATAL|CRITICAL)\b")
_DONE = lazy(r"(?i)^\W*(?:all )?(?:done|finished|completed)\s?[.!](?:\s|$)")  # `Done! Best: 85/100 wins`
_TALLY = lazy(r"(?i)\b\d+ passed\b.{0,40}\bin \d")  # of tests: that some failed is what came out
_TIMES = lazy(r"(?:user|sys)\s+\d+m[\d.]+s$")  # behind `real`, which tells it all
_ALL_MOVED = lazy(r"(?<![\d.])(\d[\d.]* ?[KMGT]?i?B) ?/ ?\1\b.{0,4}\b100 ?%")
_RULE = lazy(r"\s*[-=_+|─━═└┴┘╘╧╛]{10,}\s*$")
_ALL_DONE = lazy(r"(?i)^\W*\w{2,14}ed (?:all )?(\d[\d,]*) (?!of\b)[a-z]{3,20}\b")


class ClosingLines:
    """A log's last lines. tail: its last bytes, `TAIL_BYTES` of them if there are so many."""

    def __init__(self, tail: bytes) -> None:
        self.tail = tail

    @cached_property
    def _lines(self) -> list[str]:
        parts = _BREAKS.split(self.tail)[len(self.tail) >= TAIL_BYTES :]  # the first one may be cut
        lines = [readable(part[:500]).rstrip() for part in parts]
        return [line for line in lines if line.strip() and not _TIMES.match(line)]

    @cached_property
    def rising(self) -> Rising | None:
        """As `rising`, of these lines."""
        return rising(self._lines)

    @cached_property
    def _counted(self) -> int:
        """How many lines there are up to the last one that shows a counter."""
        lines = self._lines
        times = Counter(self._forms)
        at = next((at for at in range(len(lines), 0, -1) if _counts(lines[at - 1], times[self._forms[at - 1]])), 0)
        return at or (self.rising.lines if self.rising else 0)

    @cached_property
    def _forms(self) -> list[str]:
        return [_form(line) for line in self._lines]

    @cached_property
    def _looped(self) -> int:
        """How many lines there are up to the last one of a form that came again and again; 0 where none did."""
        times = Counter(self._forms)
        at = [at for at, form in enumerate(self._forms, 1) if times[form] >= LOOPED]
        return at[-1] if len(at) >= LOOP_LINES else 0

    @property
    def is_looping(self) -> bool:
        """Whether lines of one form, and with numbers, come again and again."""
        rows = [form for form, line in zip(self._forms, self._lines, strict=True) if any(map(str.isdigit, line))]
        return any(times >= LOOP_LINES for times in Counter(rows).values())

    @property
    def loop_is_over(self) -> bool:
        """Whether lines that came again and again end with values of another form: what the loop was for."""
        at, known = self._looped, set(self._forms[: self._looped])
        after = self._lines[at:]
        if not at or any(_is_bad(line) or _is_grave(line) or _OF_THE_LOOP.search(line) for line in after):
            return False
        results = [line for line in after if _is_result(line)]
        if len(after) > max(LOOPED, 2 * len(results)):
            return False
        return any(_form(line) not in known for line in results)

    @property
    def ends_in_results(self) -> bool:
        """Whether a few results, and nothing else, stand behind the last display of a share of the work."""
        lines = self._lines
        at = next((at for at in range(len(lines), 0, -1) if read_percent(lines[at - 1]) is not None), 0)
        after = lines[at:]
        if not at or AUXILIARY.search(lines[at - 1]) or not 0 < len(after) <= LOOPED:
            return False
        return all(_is_result(line) and not _OF_THE_LOOP.search(line) for line in after)

    @cached_property
    def went_on(self) -> bool:
        """Whether much was written behind the last word of an end: it may have been that of a part."""
        lines = self._lines
        at = next((at for at in range(len(lines), 0, -1) if turn_of(lines[at - 1]) == "ended"), 0)
        return sum(not is_farewell(line) for line in lines[at:]) > LINES_AFTER

    @property
    def is_at_prompt(self) -> bool:
        """Whether a shell waits for its next command, and the lines before tell of no crash."""
        lines = self._lines[-LOOPED:]
        return bool(lines and _PROMPT.match(lines[-1])) and not any(map(_is_bad, lines))

    @property
    def lines_behind(self) -> int:
        """How many lines stand behind the last one that shows any counter."""
        return len(self._lines) - self._counted

    def stride(self, key: str) -> float:
        """How far the counter `key` went between the last two lines that show it; 0 if that cannot be told."""
        lines = self._lines[max(0, self._counted - LINES_AFTER) : self._counted]
        shown = [sight.current for line in lines for sight in read_line(line).sights if sight.key == key]
        return shown[-1] - shown[-2] if len(shown) > 1 else 0

    @property
    def fails(self) -> bool:
        """Whether one of the last lines, behind the last counter, says that something failed."""
        last = self._lines[self._counted :][-LAST_LINES:]
        return not self._tallies and any(_FAILED.search(message(line).text) or _FATAL.match(line) for line in last)

    @property
    def _tallies(self) -> bool:
        return bool(self._lines and _TALLY.search(self._lines[-1]))

    @property
    def is_framed(self) -> bool:
        """Whether a rule stands below the rows of a table, as one does below its head, and none between them."""
        lines = self._lines
        if len(lines) <= LOOPED or not _RULE.match(lines[-1]):
            return False
        rules = [at for at, line in enumerate(lines[:-1]) if _RULE.match(line)]
        rows = lines[rules[-1] + 1 if rules else 0 : -1]
        alike = len(rows) >= LOOPED and len({len(row.split()) for row in rows}) == 1
        return alike and (not rules or rules[-1] - rules[0] < HEAD_LINES)

    @property
    def shows_all_moved(self) -> bool:
        """Whether the last line shows all bytes moved: `11.4 MiB / 11.4 MiB, 100%`."""
        return bool(self._lines and _ALL_MOVED.search(self._lines[-1]))

    def tells_all_done(self, maximum: int) -> bool:
        """Whether `encoded 300 frames` stands behind the last counter, with its maximum."""
        told = [_ALL_DONE.search(_said(line)) for line in self._lines[self._counted :]]
        return any(found is not None and found[1].replace(",", "") == str(maximum) for found in told)

    @property
    def best(self) -> list[int]:
        """The whole numbers behind the last counter that are told of the best: `best iteration: 6`."""
        told = [_said(line) for line in self._lines[self._counted :]]
        return [int(number) for line in told if _OF_THE_BEST.match(line) for number in _WHOLE.findall(line)]

    def sums_up(self, *, counted: bool) -> bool:
        """Whether it ends with a summary. counted: the run has a counter, which what comes before it may show."""
        at = (self._counted or self._looped if counted else 0) or max(1, len(self._lines) - LAST_LINES)
        before, after = self._lines[:at], self._lines[at:]
        last = after if counted else self._lines[-LAST_LINES:]
        if not before or (not self._tallies and any(map(_is_bad, last))):
            return False
        grave = not self._tallies and any(map(_is_grave, last))
        says = _says_so if grave else _says
        closing = [line for line in after[-LINES_AFTER:] if says(line)]
        if not closing:
            return False  # nearly always: a run that goes on
        known = {_form(line) for line in before} | {_claim(line) for line in before}
        return any(not {_form(line), _claim(line)} & known - {""} for line in closing)


def _closes(line: str) -> bool:
    text = _said(line)
    part = _PART.search(text)
    return (
        bool(_CLOSING.search(text) or _CLOSING.search(line) or _TOOK.search(text) or _DONE.match(text))
        and not _MIDWAY.search(text)
        and not _PREPARED.search(text)
        and not (part and int(part[1]) < int(part[2]) and not _DONE.match(text))
    )


def _says(line: str) -> bool:
    return _closes(line) or _LEAVES.search(_said(line)) is not None


def _says_so(line: str) -> bool:
    """Whether a line says that it is done in so many words: figures come behind an error too."""
    return _closes(line) and _SAYS_SO.search(line) is not None


def _is_grave(line: str) -> bool:
    return message(line).level in _GRAVE


def _said(line: str) -> str:
    """A line without what a logger writes before it."""
    text = message(line).text
    named = _NAMED_LEVEL.match(text)
    return text[named.end() :] if named else text


def _is_result(line: str) -> bool:
    return is_value(line) or is_value(_said(line)) or is_record(line) or is_figures(line)


def _is_bad(line: str) -> bool:
    """Whether a line tells of a crash, or that something failed."""
    return bool(CRASHED.search(line) or _FAILS.search(line))


def _counts(line: str, times: int) -> bool:
    """Whether a line shows a counter, and not of which step the best result was, nor what was done in all. times: that
    such a line came.
    """
    sights = read_line(line).sights
    told_once = times == 1 and all(sight.kind == "done" for sight in sights)
    return bool(sights) and not told_once and not _OF_THE_BEST.search(_said(line))


def _claim(line: str) -> str:
    """`best:`, `mean reward =`: what a value is called; "" where a line closes with something else."""
    found = _CLOSING.search(_said(line))
    return f"{_form(found[0])}=" if found and re.search("[:=]", found[0]) else ""


def _form(line: str) -> str:
    return re.sub(r"[^A-Za-z]+", " ", line)[:60]
