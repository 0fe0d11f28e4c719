"""Whether a log's last lines sum up what was done: what was saved, how long it took, what came out. Pure.

Such words are no sign of an end where they stand between two steps, so they count only behind the last counter, and
only if the lines before it do not say the same.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from onbox.logs.farewell import is_farewell
from onbox.logs.judge.ending.closing_line import (
    claim,
    closes,
    form,
    is_bad,
    is_grave,
    is_result,
    makes,
    said,
    says,
    says_so,
)
from onbox.logs.judge.ending.early_stop import begins_next, stopped_behind, told_in
from onbox.logs.judge.ending.in_all import in_all, tells_a_reason
from onbox.logs.judge.ending.last_lines import LINES_AFTER, LOOPED, OF_THE_BEST, LastLines
from onbox.logs.judge.ending.last_words import ends_in_frame_of_rules, ends_in_results, ends_in_totals
from onbox.logs.judge.ending.left_over import leaves_some
from onbox.logs.judge.ending.sentence import ends_in_sentence, stops_at, tells_a_figure
from onbox.logs.judge.ending.takes_leave import ends_a_process, goes_on
from onbox.logs.judge.unnamed.rising import SELDOM, rising
from onbox.logs.judge.unnamed.under_head import ends_in_results_column
from onbox.logs.line.percents import read_percent
from onbox.logs.line.read import read_line
from onbox.logs.line.remarks import turn_of
from onbox.logs.line.words import AUXILIARY, EVALUATION
from onbox.logs.model.lines import message
from onbox.logs.model.tables import ends_in_table, frame_at_end, is_rule
from onbox.regex import lazy

if TYPE_CHECKING:
    import re
    from collections.abc import Collection

FEW = 9  # a number up to here may be in any line
LAST_LINES = 8  # are looked at where no line shows a counter
HEAD_LINES = 4  # of a table, with the rules over and under it
EARLY_LINES = (2, 12)  # behind the last of such lines, where the end came before its time
LINES_SINCE = 12  # a run has begun
COMPLETE = 100  # percent
_SO_MANY = lazy(r"(?<![\d.,/])(\d{1,15})(?![\d.,/]*\d) [a-z]")
_PROMPT = lazy(
    r"(?:\([\w. -]{1,40}\) ?)?(?:PS [A-Z]:\\[^>]{0,200}>|\[?[\w.-]{1,40}@[\w.-]{1,80}[: ][^$#]{0,120}[$#])\s{0,20}$"
)

_OF_THE_LOOP = lazy(
    r"(?i)(?<![a-z])(?:val|valid\w*|dev|eval\w*|epoch\w*|step\w*|iter\w*|lr|learning|loss|sav\w+|checkpoint|gpu"
    r"|cuda|mem\w*|load\w*|batch\w*|seed|size|round|gen|generations?|episode\w*|best|new|start\w*|using|pid|port|so far"
    r"|current\w*|temp\w*)(?![a-z])"
)
_STORES = lazy(
    r"(?i)^\W*(?:sav|writ|export|stor)(?:ing|ed|en)\b.{0,80}\w\.[a-z]\w{1,5}\W*$|^\s*(?:\[,\d\]\s*){1,12}$"
    r"|^\W*[\w./-]{1,80}\.[a-z]\w{1,5} (?:was )?(?:written|saved|created|exported)\b"
)
_SIZE_OF_DATA = lazy(r"(?i)^\W{0,8}number of [a-z]{3,20}s?: {1,4}\d[\d,]*$")  # without a count: it has but been read
_OUTCOME_SAVED = lazy(
    r"(?i)^\W*(?:solution|answer|tour|route|schedule|results?|policy|centroids) (?:was |were )?"
    r"(?:saved|written|stored)\b"
)
_WHOLE = lazy(r"(?<![\d.])\d{1,9}(?![\d.])")
_FAILED = lazy(
    r"(?i)^\W*(?:failed|failure|fatal|aborting|giving up)\b(?! tests?\b)|^\W*(?:\w{1,20} ){0,2}"
    r"(?:pipeline|workflow|job|run|script|training|analysis) failed(?:: |\W*$)"
    r"|\b(?:terminated|ended|exited|finished)\b.{0,60}\bexit[- ]?(?:code|status) [1-9]"
)
_FATAL = lazy(r"^\W*(?:FATAL|CRITICAL)\b")
_TALLY = lazy(
    r"(?i)\b\d+ passed\b.{0,40}\bin \d|\btests? passed\b.{0,20}?\d+ tests? failed|^failed \(failures="
)  # of tests: that some failed is what came out
_ITEM_ENDED = lazy(
    r"(?i)(?:^\W*|\] )[a-z]{3,20} #?(\d{1,9})\W{1,3}(?:(?:is|was|has) )?"
    r"(?:finished|pruned|done|completed?|failed|ended)(?![a-z])"
)
_AT_WORK = lazy(  # `Evaluating on the test set`, `final pass ...`
    r"(?i)^\W*(?:now |then |final )?[a-z]{3,14}ing\b(?!.{0,200}(?<![a-z])(?:done|ok|complete|finished)\W*$)"
    r"|(?:\.{3}|\u2026)\s*$"
)
_EXITS = lazy(r"(?i)(?<![a-z])(?:exit(?:ed|s)?(?: (?:with )?(?:code|status))?|rc|return code)[ =:]{1,3}0(?![\w.])")
_ALL_MOVED = lazy(r"(?<![\d.])(\d[\d.]* ?[KMGT]?i?B) ?/ ?\1\b.{0,4}\b100 ?%")
_RULE = lazy(r"\s*[-=_+|─━═└┴┘╘╧╛]{10,}\s*$")
_ALL_DONE = lazy(
    r"(?i)^\W*(?!collected \d{1,9} items?$)(?:\w{2,14}ed \(?(?:all |after |for )?(\d[\d,]*) (?!of\b)[a-z]{3,20}\b"
    r"|total:? (\d[\d,]*)(?= \(|$))"
    r"|(?:^\W*|: )(?:\w{2,14} )?(?:completed?|done|finished)(?:[:,]| after)? \(?(\d[\d,]*) [a-z]{3,20}\b"
    r"|^\W*(\d[\d,]*) [a-z]{3,20}s (?:done|completed?|finished|trained|processed)\W*$"
)


class ClosingLines(LastLines):
    """What the last lines say of an end."""

    @property
    def exits(self) -> bool:
        """Whether one of the last lines says that the process has ended well: `task 17 completed, exit 0`."""
        return any(map(_EXITS.search, self._lines[-LOOPED:]))

    @property
    def leaves_some(self) -> bool:
        """As `leaves_some`, of these lines; or they are those of a program that ends with another one."""
        return leaves_some(self._lines) or goes_on(self._lines)

    @property
    def loop_is_over(self) -> bool:
        """Whether lines that came again and again end with values of another form: what the loop was for."""
        at, known = self._looped, set(self._forms[: self._looped])
        after = self._lines[at:]
        if not at or any(is_bad(line) or is_grave(line) or _OF_THE_LOOP.search(line) for line in after):
            return False
        results = [line for line in after if is_result(line)]
        if len(after) > max(LOOPED, 2 * len(results)):
            return False
        return any(form(line) not in known for line in results)

    @property
    def stopped_early(self) -> bool:
        """Whether lines that came again and again end with a few that were never told before, one of which closes, and
        none of which a loop tells of now and then.
        """
        after, known = self._lines[self._looped :], set(self._forms[: self._looped])
        if not self._looped or not EARLY_LINES[0] <= len(after) <= EARLY_LINES[1]:
            return False
        if any(is_bad(line) or is_grave(line) or form(line) in known or _is_of_loop(line) for line in after):
            return False
        return any(map(closes, after))

    def tells_behind_loop(self, number: int) -> bool:
        """Whether a maximum is told behind lines that came again and again, and not before: it came out of them."""
        told = [_declares(line, number) for line in self._lines]
        return self._looped > 0 and any(told[self._looped :]) and not any(told[: self._looped])

    @property
    def tells_early_stop(self) -> bool:
        """Whether one of the last lines says in so many words that the loop was stopped early."""
        return told_in(self._lines)

    @property
    def stopped_behind(self) -> bool:
        """As `stopped_behind`, of what stands behind the last counter."""
        return stopped_behind(self._lines, self._counted)

    @property
    def ends_as_no_loop_does(self) -> bool:
        """Whether a framed result or a record of totals stands behind the last counter."""
        return ends_in_frame_of_rules(self._lines, self._counted) or ends_in_totals(self._lines)

    @property
    def ends_in_new_results(self) -> bool:
        """As `ends_in_results` of what stands behind the last counter."""
        return ends_in_results(self._lines, self._counted)

    @property
    def follows_something_new(self) -> bool:
        """Whether lines stand behind the last counter, none like them before, none tells of a failure, and the last one
        not of what is at work.
        """
        after, known = self._lines[self._counted :], set(self._forms[: self._counted])
        new = not known.intersection(self._forms[self._counted :])
        return bool(after) and new and not self.is_at_work and not any(is_bad(line) or is_grave(line) for line in after)

    @property
    def is_at_work(self) -> bool:
        """Whether the last line tells of what is at work: `Computing correlations ...`"""
        return bool(self._lines) and _AT_WORK.search(said(self._lines[-1])) is not None

    @property
    def ends_in_sentence(self) -> bool:
        """As `ends_in_sentence` of what stands behind the last counter."""
        return ends_in_sentence(self._lines, self._counted)

    def stops_at(self, current: float) -> bool:
        """As `stops_at`, of these lines."""
        return stops_at(self._lines, current)

    @property
    def ends_a_process(self) -> bool:
        """As `ends_a_process`, of these lines."""
        return ends_a_process(self._lines)

    @property
    def ends_in_evaluation(self) -> bool:
        """Whether the last line tells of an evaluation."""
        return bool(self._lines) and EVALUATION.search(said(self._lines[-1])) is not None

    @property
    def ends_in_results(self) -> bool:
        """Whether a few results, and nothing else, stand behind the last display of a share of the work."""
        lines = self._lines
        at = next((at for at in range(len(lines), 0, -1) if read_percent(lines[at - 1]) is not None), 0)
        after = lines[at:]
        if not at or AUXILIARY.search(lines[at - 1]) or not 0 < len(after) <= LOOPED:
            return False
        return all(
            _STORES.search(line) or tells_a_figure(line) or (is_result(line) and not _OF_THE_LOOP.search(line))
            for line in after
        )

    @property
    def went_on(self) -> bool:
        """Whether much was written behind the last word of an end: it may have been that of a part."""
        return self._behind_end > LINES_AFTER

    @property
    def works_on(self) -> bool:
        """Whether lines were written behind the last word of an end, and the last one tells of what is at work."""
        return self.is_at_work and self._behind_end > LINES_SINCE

    @cached_property
    def _behind_end(self) -> int:
        """How many lines stand behind the last word of an end, without those that take leave."""
        lines = self._lines
        at = next((at for at in range(len(lines), 0, -1) if turn_of(lines[at - 1]) == "ended"), 0)
        return sum(not is_farewell(line) for line in lines[at:])

    @cached_property
    def counts_on(self) -> bool:
        """Whether the last lines go on counting behind the last word of an end, as no list of results does."""
        ends = (turn_of(line) == "ended" or closes(line) for line in reversed(self._lines))
        at = next((len(self._lines) - back for back, over in enumerate(ends) if over), 0)
        behind = rising(self._lines[at:], alone=True)
        return behind is not None and behind.stride >= SELDOM and behind.lines == len(self._lines) - at

    @cached_property
    def counts_results(self) -> bool:
        """As `ends_in_results_column`, of the lines up to the last one that shows a counter."""
        return ends_in_results_column(self._lines[: self._counted])

    @property
    def tells_of_a_start(self) -> bool:
        """Whether one of a few last lines says that a run begins, and no evaluation of one."""
        last = self._lines[self._counted :][-LINES_SINCE:]
        return any(turn_of(line) == "started" and not EVALUATION.search(line) for line in last)

    @property
    def is_at_prompt(self) -> bool:
        """Whether a shell waits for its next command, and the lines before tell of no crash."""
        lines = self._lines[-LOOPED:]
        return bool(lines and _PROMPT.match(lines[-1])) and not any(map(is_bad, lines))

    @property
    def ends_in_whole_share(self) -> bool:
        """Whether the last line shows 100 percent, and not of what was only prepared."""
        line = self._lines[-1] if self._lines else ""
        return read_percent(line) == COMPLETE and AUXILIARY.search(line) is None

    @property
    def fails(self) -> bool:
        """Whether one of the last lines, behind the last counter, says that something failed."""
        if self.ends_in_table or self.ends_a_process:
            return False
        last = self._lines[self._counted :][-LAST_LINES:]
        return not self._tallies and any(_FAILED.search(message(line).text) or _FATAL.match(line) for line in last)

    @property
    def _tallies(self) -> bool:
        return any(map(_TALLY.search, self._lines[-1:] if not self._counted else self._lines[self._counted :]))

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

    @cached_property
    def ends_in_table(self) -> bool:
        """Whether a table stands behind the last counter and ends the log: `|task|acc|`, `|----|---|`, and rows."""
        before, after = self._lines[: self._counted], self._lines[self._counted :]
        return ends_in_table(after) and not any(map(is_rule, before))

    @property
    def ends_in_frame(self) -> bool:
        """Whether a data frame stands behind the last counter and ends the log, and none like it stood before."""
        before, after = self._lines[: self._counted], self._lines[self._counted :]
        head = frame_at_end(after)
        return head is not None and head not in before

    @property
    def shows_all_moved(self) -> bool:
        """Whether the last line shows all bytes moved: `11.4 MiB / 11.4 MiB, 100%`."""
        return bool(self._lines and _ALL_MOVED.search(self._lines[-1]))

    def tells_all_done(self, maximum: int) -> bool:
        """Whether `encoded 300 frames` stands behind the last counter, with its maximum."""
        told = [_ALL_DONE.search(said(line)) for line in self._lines[self._counted :]]
        return any(found and str(maximum) == _number_in(found) for found in told)

    def told_in_all(self, words: Collection[str]) -> int | None:
        """How many there were in all, as a line behind the last counter tells it: `14 epochs took 141.2 s`. words: for
        what was counted. None where the lines tell of an end before its time.
        """
        after = self._lines[self._counted - 1 :]
        if self._counted and self._forms[self._counted - 1] in self._forms[: self._counted - 1]:
            del after[0]  # `5,000 rows processed`, again and again: so many by now
        return None if tells_a_reason(self._lines[-LINES_AFTER:]) else in_all(after, words)

    def tells_made(self, maximum: int) -> bool:
        """Whether `wrote 1200 samples to x.jsonl` stands behind the last counter, with its maximum."""
        told = [line.replace(",", "") for line in self._lines[self._counted :] if makes(line)]
        return maximum > FEW and any(str(maximum) in _SO_MANY.findall(line) for line in told)

    def ends_item(self, number: int) -> bool:
        """Whether the last line says that the piece of this number has come to its end: `Trial 59 pruned.`"""
        found = _ITEM_ENDED.search(said(self._lines[-1])) if self._lines else None
        return found is not None and int(found[1]) == number

    @property
    def says_made(self) -> bool:
        """Whether the last line says, in whatever words, that the work is there."""
        if not self._lines or not makes(self._lines[-1]):
            return False
        drawn = next((line for line in reversed(self._lines) if read_percent(line) is not None), "")
        return AUXILIARY.search(drawn) is None

    @property
    def best(self) -> list[int]:
        """The whole numbers behind the last counter that are told of the best: `best iteration: 6`."""
        told = [said(line) for line in self._lines[self._counted :]]
        return [int(number) for line in told if OF_THE_BEST.match(line) for number in _WHOLE.findall(line)]

    @property
    def _last_half(self) -> int:
        """How many lines stand before the last ones, which are no more than the second half: a head sums nothing up."""
        return max(1, len(self._lines) // 2, len(self._lines) - LAST_LINES)

    def sums_up(self, *, counted: bool) -> bool:
        """Whether it ends with a summary. counted: the run has a counter, which what comes before it may show."""
        at = (self._counted or self._looped if counted else 0) or self._last_half
        before, after = self._lines[:at], self._lines[at:]
        last = after if counted else self._lines[-LAST_LINES:]
        if not before or begins_next(self._lines[-1]) or (not self._tallies and any(map(is_bad, last))):
            return False
        grave = not self._tallies and any(map(is_grave, last))
        judge = says_so if grave else says
        closing = [line for line in after[-LINES_AFTER:] if judge(line)]
        if not counted and all(map(_SIZE_OF_DATA.match, closing)):
            return False
        if not closing or (not counted and self.counts_on):
            return False  # nearly always: a run that goes on
        known = {form(line) for line in before} | {claim(line) for line in before}
        if not counted:  # what is told of each piece
            known |= {one for one, times in Counter(map(form, after)).items() if times > 1}
        return any(not {form(line), claim(line)} & known - {""} for line in closing)


def _number_in(found: re.Match[str]) -> str:
    return next(number for number in found.groups() if number).replace(",", "")


def _declares(line: str, number: int) -> bool:
    """Whether a line tells a maximum, or a setting that may be one, of this number."""
    if str(number) not in line.replace(",", ""):
        return False
    seen = read_line(line)
    set_to = {sight.current for sight in seen.sights if sight.rule == "settings"}
    return number in set_to or any(most == number for _, most in seen.maxima + seen.announced)


def _is_of_loop(line: str) -> bool:
    """Whether a loop may tell that on its way."""
    return bool(_OF_THE_LOOP.search(line)) and not (OF_THE_BEST.search(said(line)) or _OUTCOME_SAVED.match(said(line)))
