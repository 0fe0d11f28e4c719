"""What is said behind a program whatever became of it: by its script, by who started it, by the system. Pure."""

from __future__ import annotations

import re

from onbox.logs.model.lines import message
from onbox.regex import lazy

# What a script does in any case, behind its work or its failure: it says nothing of either.
HOUSEWORK = lazy(
    r"(?i)\W{0,4}(?:\[[\w.-]{1,20}\] )?(?:upload|r?sync|archiv|clean|remov|cop(?:y|ying)\b|compress|notif|send|push"
    r"|back(?:ing)? ?up)\w{0,8}\b.{0,60}(?:\.{2}|:|\u2026) ?(?:done|ok)\W{0,3}$"
    r"|\W{0,4}(?:\[[\w.-]{1,20}\] )?(?:the )?(?:\w{1,20} )?(?:upload|notification|clean-?up)s? (?:is |was )?"
    r"(?:complete[d]?|finished|done|sent|ok)\W{0,3}$"
    r"|\W{0,4}(?:artifacts?|logs?|coverage|junit|reports?) (?:\w{2,8} )?(?:uploaded|archived|copied|synced"
    r"|pushed)\W{0,3}$"
    r"|\W{0,4}\[(?:epilog(?:ue)?|post(?:script)?|clean-?up|entrypoint|trap|exit)\] \w{1,12}(?: \w{1,12})?\W{0,3}$"
    r"|\W{0,4}(?:job )?script (?:is )?(?:finished|done|ended)\W{0,3}$"
    r"|sent [\d,]{1,20} bytes  received |total size is [\d,]{1,20}  speedup is "  # of rsync
)
_LATER = (
    r"(?:eval\w{0,8}|testing|tests?|validation|export\w{0,4}|deploy\w{0,8}|report\w{0,4}|publish\w{0,4}"
    r"|reload\w{0,3}|restart\w{0,3}|train\w{0,3}|scor\w{1,3}|upload\w{0,3}|notif\w{1,8}|promot\w{1,4}|release|merge)"
)
# What was to come behind a failure, and is left out for it: no piece of the same work.
SKIPPED = (
    rf"^\W{{0,4}}{_LATER}(?:\s?[:(]\s?| (?:is |was )?)skipped\)?\W{{0,3}}$"
    rf"|^\W{{0,4}}skipping (?:the )?{_LATER}\W{{0,3}}$"
    r"|^\W{0,4}[a-zA-Z_./-]{2,30}\s?[:(] ?skipped\)?\W{0,3}$"
    r"|^\W{0,4}(?:[\w./-]{1,40}: )?(?:next|step|stage|job|rule|task)\b[^.:(]{0,40}(?:[:(]\s?\w{0,20} ?\(?| )"
    r"skipped\)?\W{0,3}$"
)
# Who started a program tells that it has ended, and when. With exit code 0, its own code may have been lost in a pipe.
_OF_WHO_STARTED = lazy(
    r"\bexit(?:ed)?\b.{0,12}\b(?:code|status)?\D{0,3}0\b"
    r"|\b(?:job|script)\b.{0,12}\b(?:finished|ended|done|complete\w*) (?:at|on)\b"
    r"|^\W*(?:(?:job|script|run|batch|slurm) )?(?:finished|ended|done|complete\w*) (?:at|on)\b"
    r"|^\W*[\w./-]{1,40} exit(?:ed)?(?: with)? 0\W*$"
    r"|\bqueue (?:is )?empty\b"
    r"|^\W*(?:total )?(?:wall(?:[- ]?clock)?|elapsed|run|total) ?time\W{1,4}\d|^\W*end\W*$"
    r"|^\W*(?:\[[\w.-]{1,20}\] )?(?:good)?bye\W*$"
    r"|^\W*(?:[a-z]+ ){0,2}(?:finished|done|ended|completed?) (?:in|after) (?:\d[\d.:]*\s?[a-z]{0,7}\s?){1,3}\W*$"
    # of a web server
    r"|\bapplication shutdown complete\b|\bfinished (?:server|reloader|parent|child) process\b",
    re.IGNORECASE,
)
_OF_MAKE = r"g?make(?:\[\d{1,4}\])?: \*\*\* (?!.*\(ignored\))"
MAKE_GAVE_UP = lazy(_OF_MAKE)
# The last word of a tool that gives up what it was called for.
GAVE_UP = lazy(
    rf"{_OF_MAKE}"
    r"|rsync error: .{0,200}\(code (?!24\b)\d|ninja: build stopped: "
    r"|error: [Rr]ecipe .{0,120} failed|tar: Error is not recoverable: exiting|error: could not compile "
    r"|npm (?:ERR!|error) code |This progress looks :\(|##\[error\]Process completed with exit code [1-9]"
    r"|\S{0,200}: (?:line \d{1,6}: )?\S{1,80}: (?:command not found|unbound variable)$"
    r"|(?:/\S{1,200}/)?(?:python[\d.]{0,4}|perl|ruby|bash|sh|Rscript): (?:can't|cannot) open (?:file|perl script)?\b"
    r"|Execution halted$|[\w./-]{1,60}: exit(?:ed)?(?: with)? (?:code|status) [1-9]\d{0,2}$"
)
# `step 3/5: rc 101`, `train.sh: exit 1`, `model status 2`: a script tells the code of what it has started.
_OF_A_STEP = lazy(
    r"\W{0,4}(?:[\w./:#\[\]-]{1,60}\s){0,4}?[\w./:#-]{0,60}?[\s(]{0,2}"
    r"(?:rc|exit(?:ed|s)?|status|exit[ _-]?code|exit[ _-]?status|return ?code)\s?[=: ]\s?\(?[1-9]\d{0,2}\)?\W{0,3}"
    r"|.{0,80}\b(?:finished|exited|ended) \([1-9]\d{0,2}\)",
    re.IGNORECASE,
)
STEP_LETTERS = 120
_OF_SYSTEM = lazy(r"\bsystemd\[\d{1,8}\]: ")


def is_of_who_started(text: str) -> bool:
    """Whether a line tells that a program has ended, by who started it: it says nothing of its work."""
    return bool(_OF_WHO_STARTED.search(message(text).text) or _OF_SYSTEM.search(text))


def tells_step_failed(said: str) -> bool:
    """Whether a line, without its prefixes, says no more than that something ended with a code of failure."""
    return len(said) <= STEP_LETTERS and _OF_A_STEP.fullmatch(said) is not None
