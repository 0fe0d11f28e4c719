"""Whether a line, as the last of all, says that the run failed, or what its reader is to do about it. Pure."""

from __future__ import annotations

from onbox.logs.model.lines import message
from onbox.regex import lazy
from onbox.triage.harmless import is_harmless
from onbox.triage.reading import going_on
from onbox.triage.reading.success import counts_failed

# What the last line of all tells of the end, however far the run came.
_ENDS_BADLY = lazy(
    r"(?i)\b(?:exit(?:ed)?|exiting)(?: with)? (?:status|code)\W{1,3}[1-9]\d{0,2}\W{0,3}$"
    r"|^\W*not finished\W{0,3}$|^(?:[a-z][\w./-]{0,40} ){1,6}failed\W{0,2}$"  # `restore of run_03 failed`
    r"|(?:->|=>|:) ?exit(?:ed)? [1-9]\d{0,2}\W{0,3}$"
    r"|\b(?:finished|done|completed|ended|stopped),? (?:but|with)\b.{0,24}"
    r"\b(?:errors?|fail(?:ed|ures?))\b(?!\s?[:=]\s?0)"
    r"|\b(?:result|status|summary|outcome)\s?[:=]\s?(?:failure|failed|errors?)\b|^\W*finished: (?:failure|unstable)\W*$"
    r"|\bnormal termination \(return value [1-9]\d{0,2}\)"  # of HTCondor
    r"|\b[1-9]\d{0,8} of \d{1,9} \w{2,20} (?:(?-i:FAILED)|did not (?:complete|finish|succeed))\b"
    r"|(?-i:\bPASS=\d{1,6} WARN=\d{1,6} ERROR=[1-9])"  # of dbt
    r"|\b(?:finished|ended|done|completed?)\b.{0,40}(?<!no )(?<!any )(?<!\b0 )\b(?:errors|damage|defects) found\W{0,2}$"
    r"|\b(?:results?|outputs?|table|matrix|report)\b \w{0,4} ?(?:incomplete|missing|lost)\W{0,3}$"
    r"|\b(?:job|run|training|work|task) (?:is |was )?(?:not complete[d]?|incomplete|unfinished)\b"
    r"|\bsuccess: false\b"  # of Nextflow
    r"|\bunreachable=\d{1,6}\s{1,8}failed=[1-9]"  # of Ansible
    r"|\bgiving up\W{0,3}$|^\W{0,4}gave up (?:waiting|after|on)\b"
    r"|\b(?:was|were) not carried out\b"
    r"|\bno (?:point|sense|use) in (?:going on|continuing|carrying on|proceeding)\b"
    r"|^\W{0,4}(?:(?:the )?time is (?:up|over)|(?:ran )?out of time)\b(?!.{0,80}\b(?:best|kept|saved|done)\b)"
    r"|\b(?:time|budget|allocation|allotment)\b.{0,30}\b(?:is|are|was|were) (?:spent|used up|exhausted|gone)\b"
    r"(?!.{0,80}\b(?:best|kept|saved|done)\b)"
    r"|\b(?:this|that|it) is the wrong \w{2,20}\W{0,3}$"
    r"|\b(?:verdict|decision|result|status|outcome)\W{1,3}(?:no-?go|failed|rejected)\b"
)
# A record that says so of the whole, as the last of all.
_RECORD_OF_FAILURE = lazy(
    r"(?i)\{.{0,400}\"(?:(?:ok|success|succeeded|passed)\" ?: ?false\b"
    r"|(?:status|state|result|outcome|ev(?:ent)?)\" ?: ?"
    r"\"(?:failed|failure|error|aborted|halt(?:ed)?|crashed|preempted|evicted|killed|interrupted|timed?[ _-]?out)\")"
)
# Who reads it is to mend something, and then to start it once more.
_ASKS_TO_START_ANEW = lazy(
    r"(?i)\b(?:please|you (?:must|need to|have to))\b.{0,100}(?:"
    r"\b(?:start|run|try|log[ -]?in|submit|launch) (?:it |this )?again\b|\bre-?(?:start|run|submit|launch)\W{0,3}$)"
)
# `w.ck is half written. Go back to an older one`: what it tells before is why.
_TELLS_WHAT_TO_DO = lazy(
    r"\S ?[.;!)\u2014-] {1,2}(?:Renew|Point|Go back|Give|Fix|Install|Free|Ask|Choose|Delete|Remove|Make room"
    r"|Raise|Lower|Increase|Reduce|Upgrade|Rebuild|Restore|Mount|Export|Repair|Log in)\b (?!.{0,40}\bif\b)"
)
# A gate of a script's own: what was measured is worse than it lets pass.
_MISSES_A_LIMIT = lazy(
    r"(?i)\b\d\S{0,20} (?:is |was )?(?:(?:still )?below the (?:required|minimum)|above the (?:allowed|maximum))\b"
    r"|\b\d\S{0,20}(?: [a-z]{2,20}){0,3} [<>] (?-i:[A-Z_]{2,30})\s?=\s?\d"  # `2 broken files > MAX_BAD=1`
)
_IS_THERE = lazy(r"(?i)\b(?:complete[d]?|finished|done|success\w*|installed|updated|saved|kept|best)\b")
_ENDS_WITH_CODE = lazy(r"(?i)\b(?:exit(?:_?code)?|rc) ?= ?[1-9]\d{0,2}\W{0,3}$")  # whatever was skipped beside it


def ends_badly(text: str) -> bool:
    """Whether a line, as the last of all, says that the run failed, however far it came."""
    said = message(text).text
    if counts_failed(said):
        return False  # it tells of parts, of which others went well
    if _ENDS_WITH_CODE.search(said):
        return not going_on.MEANT.search(text)
    if _MISSES_A_LIMIT.search(said):
        return message(text).level not in ("INFO", "DEBUG", "WARNING")
    if _RECORD_OF_FAILURE.search(said):
        return not going_on.is_handled(text)
    if _ASKS_TO_START_ANEW.search(said) or _TELLS_WHAT_TO_DO.search(said):
        return not _IS_THERE.search(said)
    return _ENDS_BADLY.search(said) is not None and not is_harmless("", text, loud=True)
