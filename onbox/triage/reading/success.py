"""Whether a line says that all of the work is done. Pure.

It is a claim, to be weighed against what else the log holds (`weighing/claims.py`).
"""

from __future__ import annotations

import re

from onbox.regex import lazy
from onbox.triage.epilogue import HOUSEWORK
from onbox.triage.reading import languages, signs
from onbox.triage.rules.python import FAILED_CASE
from onbox.triage.scheduler_states import BAD_STATES

FETCHED = lazy(r"\b(?:loading|downloading|fetching)\b.{0,60}\b100%", re.IGNORECASE)  # a part, never the work

_WORK = (
    r"(?:training|fit(?:ting)?|fine-?tuning|pre-?training|train(?:er)?(?:\.fit)?|distillation|sweep"
    r"|search|optimi[sz]ation|experiment|pipeline|workflow|evaluation|inference|conversion|export(?:ing)?"
    r"|sync\w*|transfer|backup|simulation|calculation|analysis|sampling|everything|epochs|steps|iterations|trials"
    r"|tasks|stages|batches|shards|jobs|run|main|prompts)"
)
_WHOLE = r"(?:application|program|script|job|execution|benchmark\w{0,6}|generation|deployment|apply|mission|build)"
_ENDED = r"(?:finished|complete[d]?|done|succeeded|ended normally|has ended)"
_WELL = r"(?:success(?:ful)?|succeeded|completed|pass(?:ed)?|finished|done)"
_BUILT = "it was built or fetched"  # and is there to be run: the work itself may come behind it
# In lines of their own (^ ... $) stand words that are said of parts as well.
_WAYS = {
    "the work has ended": (
        rf"\b{_WORK}\b.{{0,40}}\b{_ENDED}\b(?!.{{0,40}}(?:with (?:errors?|failures?|status [1-9]|exit|code"
        rf"|rc)|(?<!\b0 )(?<!\bno )fail|\brc\b|status [1-9]|code [1-9]|\bexit=[1-9]))"
        r"|\b(?:finished|completed|done) (?:training|successfully|all\b|fitting|with exit code 0)"
        r"|\bran to completion\b|job completed"
        r"|\bfinished (?:the )?execution of (?:the )?(?:run|job|pipeline|workflow)\b"
        rf"|^\W*(?:the )?{_WHOLE} (?:(?:is|was|has been|has) )?(?:complete[d]?|finished|successful|done|accomplished)"
        r"\b(?:!|\W*$|\W{1,3}(?:in|after|at|on|total|elapsed|took)\b|: [1-9])"
        r"|^\W*end of (?:program|run|script|job)\W*$"
    ),
    "it has ended well": (
        r"\bsuccess(?:fully)? (?:finished|completed|trained|exported|uploaded|ended|executed)"
        r"|(?:finished|completed|ended|exited|executed|compiled)"
        r" (?:successfully\b(?!,? but)|without (?:any )?errors?\b|with (?:0|no) errors?\b)"
        r"|^\W*successfully ran (?:all )?\d"
        r"|(?<!\bthread )(?<!watchdog )\b(?:normal termination(?! \(return value [1-9])|terminated normally(?!, but)"
        r"|normally terminated|(?:ended|exited) normally)\b"
    ),
    "an outcome": (
        r"^\W*(?:(?:final|overall|load|test|job|build|run|flow|pipeline|workflow|sweep|exit|end|training) ){0,3}"
        rf"(?:status|state|result|outcome|verdict)\W{{1,4}}{_WELL}(?:\W*$|, | \()"
        r"|^\W*(?:final|overall|job|build|run|pipeline|workflow|exit|end) status\W{1,4}ok(?:ay)?\W*$"
        rf"|^\W*overall\W{{1,4}}{_WELL}\W*$"
        r"|^\W*finished: success\W*$|\bstate[ :=]+COMPLETED\b"
        r"|^\W*(?:ended|finished|completed|exited|done) \((?:exit |return )?(?:code|status|rc)[ =:]{1,2}0\)"
        r"|\bexit_?(?:status|code)\W{0,4}0\b(?![.\d])|^\W*success\W{1,3}true\W*$|\bfinal status\W{1,4}succeeded\b"
        r"|(?<!\b(?:child|other) process )\bexit(?:ed)?\b.{0,16}(?:code|status)\D{0,3}0\b(?!(?:, ?0){0,64}, ?-?[1-9])"
        r"|^\W*[\w./-]{1,40} exit(?:ed)?(?: with)? 0\W*$"
        r"|^\W*job succeeded\W*$|\b(?:left|ended|returned|terminated) with (?:exit )?(?:status|code) 0\W*$"
        r"|^\W*(?:success|passed|all good|export success)\W*$"
        r"|^\W*(?:found )?(?:0|no) errors?(?:\(s\))?(?:(?: were| was)? found)?(?:, (?:0|no) warnings?(?:\(s\))?)?\W*$"
        r"|^[0-9a-f]{40} is the first bad commit$"
        r"|\bunreachable=0\s{1,8}failed=0\b|\bexport ok\b|^\W{0,4}job done\b"
        r"|\b(?:closed|ended|exited|stopped|terminated) \((?:finished|completed|success)\)\W*$"
    ),
    "all of them": (
        r"\[(?P<bar>\d{1,20})/(?P=bar)\] (?:done|finished|complete)"
        r"|\ball (?:checks|tests|scenarios|cases|stages|tasks|jobs) (?:have )?passed\b"
        r"|\ball (?:stages|steps|tasks|jobs|trials) (?:are |were |have been )?(?:complete[d]?|finished|succeeded)\b"
        r"(?!.{0,30}\b(?<!0 )(?:failed|errors)\b)"
        r"|\ball (?:\w{1,24} ){1,3}(?:processed|written|converted|succeeded|uploaded)\b.{0,20}$"
        r"|^=+ (?:\d+ (?!failed|error)\w{1,40}, ){0,6}\d{1,20} passed\b(?:, \d+ (?!failed|error)\w{1,40}){0,6} in"
        r" [\d.]+s"
        r"|(?<![\d.,/])(?P<well>\d{1,9}) ?(?:/|of) ?(?P=well) (?:(?:tasks|jobs|trials|runs|tests|stages|checks"
        r"|experiments|steps|scenarios|models|epochs)\b )?(?:\(100%\) )?(?:succeeded|passed|done|finished|completed)\b"
        r"|\b(?:completed|finished) (?P<all>\d{1,9}) ?(?:/|of) ?(?P=all) (?:tasks|jobs|trials|runs|tests|stages)\b"
    ),
    "its own limit": (
        r"stopped: .{0,3}max_|max(?:imum)?[_ ](?:number of )?(?:steps|epochs|iter\w{0,24}|time|updates"
        r"|tokens)\b.{0,12}reached|reached (?:max_|the (?:maximum|last|final|target))\w{0,24}"
        r"|early stopping\b(?!.{0,30}(?:enabled|patience|config))|stopping\. best iteration"
        r"|time limit reached\. elapsed time is.{0,30}signaling trainer to stop"
    ),
    "what it was for": (
        r"train_runtime|best .{0,80}(?:kept|saved|restored|reported)"
        r"|^(?:best|final|optimal) (?:objective|solution|value|score)\b.{0,40}\d"
        r"|final (?:model|checkpoint|weights) (?:was |were |is )?(?:saved|written|stored)"
        r"|^output written on \S|^\W*total wall time: \d|\bready to accept connections\b"
        r"|do not forget to share your model"
    ),
    _BUILT: (
        r"\bbuild files have been written to\b|^\s{0,8}finished .{0,80}\btarget\(s\) in\b|^\[100%\] Built target\b"
        r"|^successfully (?:installed|built|downloaded|tagged)\b|\bcompiled successfully\b(?!,? but)"
        r"|^\W{0,4}configuring done\b|\bbuild (?:succeeded|success(?:ful)?)\b"
        r"|^[\d: ./()-]{0,40}(?:[\d.]+ [KM]B/s\) - )?\S{1,200} saved \[(?P<bytes>\d{1,20})/(?P=bytes)\]"
    ),
}
READY = lazy(r"\bready to accept connections\b", re.IGNORECASE)  # of a server
SUCCESS = lazy("|".join(_WAYS.values()), re.IGNORECASE)
_OF_BUILD = lazy(_WAYS[_BUILT], re.IGNORECASE)
# How many of them: well, badly, not yet.
_TALLY = lazy(
    r"(?<![\w./])(?P<count>\d{1,9}) (?:(?:tasks?|jobs?|tests?|runs?|files?|checks?|steps?|stages?) )?"
    r"(?P<what>[a-z]{2,12})\b"
    r"|\b(?P<label>[a-z]{2,12})"
    r"(?:[\"']?\s{0,4}[:=]\s{0,4}(?!\d{1,9} [a-z]{2,12}(?:[,;.)]|$))| )(?P<value>\d{1,9})(?![\w.%/])",
    re.IGNORECASE,
)
_DID_WELL = r"ok|pass(?:ed)?|succeeded|successful(?:ly)?|completed"
_GOOD = lazy(_DID_WELL, re.IGNORECASE)
# What brings something, each of it.
_BROUGHT = lazy(
    rf"{_DID_WELL}|success(?:es)?|done|answered|accepted|uploaded|converted|processed|scored|saved|written|sent"
    r"|transferred|copied|evaluated|generated|solved|delivered|published|exported|imported|trained|finished|kept|good"
    r"|usable|valid",
    re.IGNORECASE,
)
_BAD = lazy(
    r"fail(?:ed|ures?)?|errors?|unreachable|unreadable|unusable|crashed|aborted|dropped|rejected", re.IGNORECASE
)
_REST = lazy(r"skip(?:ped)?|changed|warn(?:ing)?s?|ignored|rescued|cached", re.IGNORECASE)
_NOT_YET = lazy(r"running|pending|queued|remaining|left|waiting|scheduled|active", re.IGNORECASE)
_OF_TESTS = lazy(r"\b(?:pass(?:ed)?|tests?|checks?|total|unreachable)\b", re.IGNORECASE)  # the last: of Ansible
_OF_A_LOOP = lazy(r"\b(?:step|epoch|iter\w*|batch|round|so far)\b", re.IGNORECASE)
# A server that was asked to end says so when it has; one that has crashed may say the same.
SHUT_DOWN = lazy(
    r"\bshut ?down (?:is )?complete[d]?\b|\bshut ?down (?:gracefully|cleanly)|\bgracefully (?:shut down|stopped"
    r"|exited)\b"
    r"|^\W{0,4}server (?:has )?(?:stopped|shut down)\b",
    re.IGNORECASE,
)
# A line of a test suite about one case: what it names is what the case is about.
_TEST_CASE = lazy(
    r"^(?:not )?ok \d{1,6}\b|^\s{0,20}[\u2713\u2714\u221a] |^\[\s{0,8}(?:RUN|OK|PASSED|SKIPPED)\s{0,8}\] \S"
    r"|^\s{0,20}--- (?:PASS|SKIP): |^=== RUN |^test \S{1,200} \.\.\. (?:ok|ignored)\b"
    r"|^test\w{0,200} \(\S{1,200}\).{0,200} \.\.\. (?:ok|skipped|expected failure)\b"
    r"|^\S{1,200}::[^\s\[]{1,160}(?:\[[^\]]{1,160}\])? (?:PASSED|SKIPPED|XFAIL)\b|^(?:XFAIL|XPASS|SKIPPED"
    r"|PASSED) \S{1,200}\.py\b"
    r"|^\S.{1,160}\s\| (?:PASS|SKIP) \|$"
    r"|^\S.{1,160}[ .]\.{2,20} ?(?:ok|OK|yes|passed|PASS|PASSED)$"
)
_FAILED_CASE = lazy(FAILED_CASE, re.IGNORECASE)
# The one line that a test suite which provoked every error on its way ends with.
TESTS_OK = lazy(
    r"^All tests successful\.|^OK(?: \([\w=, ]{1,80}\))?$|^100% tests passed\b"
    r"|^\[\s{0,4}PASSED\s{0,4}\] \d+ tests?|^test result: ok\b"
    r"|^Tests?(?: Suites)?:\s{1,10}\d+ passed\b|^\s{0,8}\d+ passing\b"
    r"|^(?:#|\u2139) fail\s{1,8}0$"  # of TAP, of Node
    r"|^\d{1,9} (?:runs|tests), \d{1,9} assertions, 0 failures, 0 errors\b"  # of Ruby
    r"|^ok\s{1,8}\S{1,200}\s{1,8}[\d.]{1,20}s|^=+ (?:\d+ (?!failed|error)\w{1,40}, ){0,6}\d{1,20} passed\b"
)
_SOME_FAILED = lazy(r"\b[1-9]\d* (?:failed|errors?)\b")
_RAISED = lazy(r"^\s*(?:\w+\.)*[A-Z]\w*(?:Error|Exception): ")  # whatever it speaks of, nothing is done
NOTHING_DONE = lazy(  # `0 steps done, bye`: no word of success, and no step
    r"(?:^|[:;,(] ?)\W{0,3}0 (?:[a-z]{2,20} ){1,2}(?:done|complete[d]?|finished|submitted|launched|started)\b",
    re.IGNORECASE,
)
NOT_SUCCESS = lazy(
    rf"\bstate[ :=]+(?:{BAD_STATES})\b"
    r"|\bexit \W{0,2}\$|\bsuccess\w*\W{1,3}but\b|\bno (?:trials?|runs?|models?|jobs?|folds?|seeds?|tasks?)"
    r" (?:\w{2,5} ){0,2}(?:complet|finish|succe)|\b(?:if|when|once|unless|until)\b.{0,40}\bexit"
    r"|(?<!processed, )(?<!done, )\b(?:rank|worker|child|thread|replica|pod|node|actor)s?\b.{0,20}\bexit(?:ed)?\b"
    r"|\b(?:not|never|un|in(?! state)|nothing|without|before|until|cannot|could not|did not|didn't|failed|when|once"
    r"|if|after|while|will|to be)\b.{0,30}\b(?:finish|complet|done|succe)|incomplete|unfinished|unsuccess"
    r"|^writing additional pages\b"  # of Sphinx
    r"|\b(?:errors|failures|failed)\s?[:=]\s?[1-9]\d{0,8}(?![\d.])"
    r"|(?<![\d.])\d{1,2}(?:\.\d{1,3})?\s?% (?:complete[d]?|done|finished)\b"
    r"|(?<!final )\b(?:checkpoint|snapshot) (?:is |was |has been )?(?:finished|done|complete[d]?)\b"  # on the way
    r"|\b[a-z_-]{1,40} #?\d{1,9} (?:is |was |has )?(?:finished|done|complete[d]?)\b(?! successfully)",
    re.IGNORECASE,
)
_WHAT_NEXT = lazy(r"\b(?:finished|done|complete[d]?)[,;:] {1,2}(?:now )?[a-z]{3,12}ing\b", re.IGNORECASE)
_NOT_ALL_DONE = (_WHAT_NEXT, signs.STOPPED, NOT_SUCCESS, NOTHING_DONE, FETCHED, _RAISED)
PART_OF = lazy(r"(?<![\d.,/])(\d{1,12})\s?(?:/|of=?)\s?(\d{1,12})(?![\d.,/])")


def is_of_build(text: str) -> bool:
    """Whether a word of success is that of a builder or a download, behind which the work may begin."""
    return bool(_OF_BUILD.search(text))


def is_test_case(text: str) -> bool:
    """Whether a line of a test suite is about one case that did what it should, or that is known to fail."""
    return bool(_TEST_CASE.match(text)) and not _FAILED_CASE.match(text)


def is_test_report(text: str) -> bool:
    """Whether a test suite says that all is as it should be."""
    return bool(TESTS_OK.match(text)) and not _SOME_FAILED.search(text)


def _counts_in(text: str) -> list[tuple[str, int]]:
    return [(hit["what"] or hit["label"], int(hit["count"] or hit["value"])) for hit in _TALLY.finditer(text)]


def counts_failed(text: str) -> int:
    """How many pieces of its work a program counts as failed, beside others that went well; 0 if it does not. Of tests
    and checks, one that has failed is a failure of all.
    """
    counts = [] if _OF_A_LOOP.search(text) or _OF_TESTS.search(text) else _counts_in(text)
    if any(count for word, count in counts if _NOT_YET.fullmatch(word)):
        return 0
    good = sum(count for word, count in counts if _BROUGHT.fullmatch(word))
    return counts_bad(text) if good else 0


def counts_bad(text: str) -> int:
    """How many pieces a line counts as failed, whatever else it counts."""
    return sum(count for word, count in _counts_in(text) if _BAD.fullmatch(word))


def counts_bad_only(text: str) -> bool:
    """Whether a line counts that something went badly, and beside it that nothing went well: `uploaded=0 failed=12`."""
    counts = _counts_in(text)
    brought = [count for word, count in counts if _BROUGHT.fullmatch(word)]
    return bool(brought) and not any(brought) and counts_bad(text) > 0 and not _OF_A_LOOP.search(text)


def counts_good_only(text: str) -> bool:
    """Whether a line counts what went well, and beside it at most what was left out: `3 converted, 1 skipped`."""
    counts = _counts_in(text)
    good = sum(count for word, count in counts if _BROUGHT.fullmatch(word))
    others = any(count for word, count in counts if _BAD.fullmatch(word) or _NOT_YET.fullmatch(word))
    left_out = any(count for word, count in counts if _REST.fullmatch(word))
    return good > 0 and left_out and not others and not _OF_A_LOOP.search(text)


def _tallies_all_good(text: str) -> bool:
    """Whether a line counts what went well, and that nothing went badly or is still to come."""
    if _OF_A_LOOP.search(text):
        return False
    counts = _counts_in(text)
    good = sum(count for word, count in counts if _GOOD.fullmatch(word))
    bad = [count for word, count in counts if _BAD.fullmatch(word)]
    rest = sum(count for word, count in counts if _REST.fullmatch(word))
    total = max((count for word, count in counts if word.lower() == "total"), default=0)
    open_ = any(count for word, count in counts if _NOT_YET.fullmatch(word))
    return good > 0 and bool(bad) and not any(bad) and not open_ and good + rest >= total


def is_success(text: str) -> bool:
    """Whether a program says that all of its work is done; "8/20 trials done" is not all."""
    if is_test_report(text) or SHUT_DOWN.search(text) or _tallies_all_good(text):
        return True
    if HOUSEWORK.match(text):
        return False
    if not (SUCCESS.search(text) or languages.says_done(text)) or any(one.search(text) for one in _NOT_ALL_DONE):
        return False
    count = PART_OF.search(text)
    return not count or int(count[1]) >= int(count[2])
