"""Whether a line says that all of the work is done. Pure.

It is a claim, to be weighed against what else the log holds (`weighing/claims.py`).
"""

from __future__ import annotations

import re

from onbox.regex import lazy
from onbox.triage.reading import languages, signs

FETCHED = lazy(r"\b(?:loading|downloading|fetching)\b.{0,60}\b100%", re.IGNORECASE)  # a part, never the work

_THING = (
    r"(?:training|fit(?:ting)?|fine-?tuning|pre-?training|train(?:er)?(?:\.fit)?|distillation|sweep"
    r"|search|optimi[sz]ation|experiment|pipeline|workflow|evaluation|inference|conversion|export(?:ing)?"
    r"|sync\w*|transfer|backup|simulation|calculation|analysis|sampling|everything|epochs|steps|iterations|trials"
    r"|tasks|stages|batches|shards|jobs|run|main|prompts)"
)
_ENDED = r"(?:finished|complete[d]?|done|succeeded|ended normally|has ended)"
SUCCESS = lazy(
    rf"\b{_THING}\b.{{0,40}}\b{_ENDED}\b(?!.{{0,40}}(?:with (?:errors?|failures?|status [1-9]|exit|code"
    rf"|rc)|fail|\brc\b|status [1-9]|code [1-9]))"
    rf"|\b(?:finished|completed|done) (?:training|successfully|all\b|fitting|with exit code 0)"
    rf"|success(?:fully)? (?:finished|completed|trained|exported|uploaded|ended)"
    r"|stopped: .{0,3}max_|max(?:imum)?[_ ](?:number of )?(?:steps|epochs|iter\w{0,24}|time|updates"
    r"|tokens)\b.{0,12}reached|train_runtime|(?:finished|completed|ended|exited)"
    r" (?:successfully\b(?!,? but)|without (?:any )?errors?\b)"
    r"|early stopping\b(?!.{0,30}(?:enabled|patience|config))"
    r"|best .{0,80}(?:kept|saved|restored|reported)|\bstate[ :=]+COMPLETED\b"
    r"|\bexit(?:ed)?\b.{0,12}(?:code|status)\D{0,3}0\b|\[(\d{1,20})/\1\] (?:done|finished|complete)"
    r"|^=+ (?:\d+ (?!failed|error)\w{1,40}, ){0,6}\d{1,20} passed\b(?:, \d+ (?!failed|error)\w{1,40}){0,6} in [\d.]+s"
    r"|do not forget to share your model|stopping\. best iteration"
    r"|^(?:best|final|optimal) (?:objective|solution|value|score)\b.{0,40}\d"
    r"|\ball (?:checks|tests|scenarios|cases) passed\b"
    r"|\ball (?:\w{1,24} ){1,3}(?:processed|written|converted|succeeded|uploaded)\b.{0,20}$"
    r"|^successfully (?:installed|built|downloaded)\b|\bbuild files have been written to\b"
    r"|^\W{0,4}configuring done\b|\bbuild (?:succeeded|success(?:ful)?)\b"
    r"|^\W{0,4}job done\b|(?<!\bthread )(?<!watchdog )\b(?:normal termination"
    r"|terminated normally(?!, but)|normally terminated|ended normally)\b"
    r"|^\s{0,8}finished .{0,40}\btarget\(s\) in\b|^output written on \S|\bready to accept connections\b"
    r"|^[\d: ./()-]{0,40}(?:[\d.]+ [KM]B/s\) - )?\S{1,200} saved \[(\d{1,20})/\2\]"
    r"|^\[100%\] Built target\b|\bexport ok\b|job completed|reached (?:max_|the (?:maximum|last|final"
    r"|target))\w{0,24}|final (?:model"
    r"|checkpoint|weights) (?:was |were |is )?(?:saved|written|stored)"
    r"|time limit reached\. elapsed time is.{0,30}signaling trainer to stop",
    re.IGNORECASE,
)
# A server that was asked to end says so when it has; one that has crashed may say the same.
SHUT_DOWN = lazy(
    r"\bshut ?down (?:is )?complete[d]?\b|\bshut ?down (?:gracefully|cleanly)|\bgracefully (?:shut down|stopped"
    r"|exited)\b"
    r"|^\W{0,4}server (?:has )?(?:stopped|shut down)\b",
    re.IGNORECASE,
)
# The one line that a test suite which provoked every error on its way ends with.
TESTS_OK = lazy(
    r"^OK(?: \([\w=, ]{1,80}\))?$|^100% tests passed\b|^\[\s{0,4}PASSED\s{0,4}\] \d+ tests?|^test result: ok\b"
    r"|^Tests?(?: Suites)?:\s{1,10}\d+ passed\b|^\s{0,8}\d+ passing\b"
    r"|^# fail\s{1,8}0$"  # of TAP
    r"|^ok\s{1,8}\S{1,200}\s{1,8}[\d.]{1,20}s|^=+ (?:\d+ (?!failed|error)\w{1,40}, ){0,6}\d{1,20} passed\b"
)
_SOME_FAILED = lazy(r"\b[1-9]\d* (?:failed|errors?)\b")
_RAISED = lazy(r"^\s*(?:\w+\.)*[A-Z]\w*(?:Error|Exception): ")  # whatever it speaks of, nothing is done
NOT_SUCCESS = lazy(
    r"\bsuccess\w*\W{1,3}but\b"
    r"|\b(?:not|never|un|in(?! state)|nothing|without|before|until|cannot|could not|did not|didn't|failed|when|once"
    r"|if|after|while|will|to be)\b.{0,30}\b(?:finish|complet|done|succe)|incomplete|unfinished|unsuccess"
    r"|\b[a-z_-]{1,40} #?\d{1,9} (?:is |was |has )?(?:finished|done|complete[d]?)\b(?! successfully)",
    re.IGNORECASE,
)
_NOT_ALL_DONE = (signs.STOPPED, NOT_SUCCESS, FETCHED, _RAISED)
PART_OF = lazy(r"(?<![\d.,/])(\d{1,12})\s?(?:/|of)\s?(\d{1,12})(?![\d.,/])")


def is_test_report(text: str) -> bool:
    """Whether a test suite says that all is as it should be."""
    return bool(TESTS_OK.match(text)) and not _SOME_FAILED.search(text)


def is_success(text: str) -> bool:
    """Whether a program says that all of its work is done; "8/20 trials done" is not all."""
    if is_test_report(text) or SHUT_DOWN.search(text):
        return True
    if not (SUCCESS.search(text) or languages.says_done(text)) or any(one.search(text) for one in _NOT_ALL_DONE):
        return False
    count = PART_OF.search(text)
    return not count or int(count[1]) >= int(count[2])
