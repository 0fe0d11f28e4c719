"""Whether a log's last lines say that a loop was stopped before its end, as nothing got better. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.judge.ending.closing_line import form, is_bad, said
from onbox.logs.outcome import Outcome, outcome_in
from onbox.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

STOP_TOLD_IN_LAST = 4  # lines: what was best and where it was saved may follow
_IN_ENGLISH = lazy(
    r"(?i)(?:^|[:\]|,(-]\s*|\btriggered\s|\bdue to\s)early[ -]?stop(?:ping|ped)?\b(?: (?:triggered|activated|reached))?"
    r"(?:,? (?:at|after|in|on) (?:(?:epoch|step|iteration|round|iter|update)s? ?#?\d{1,9}|\d{1,9} \w{3,12}))?\W*$"
    r"|(?:^|[:\]|,-]\s*)early[ -]?stop(?:ping|ped)? at (?:epoch|step|iteration|round|iter|update) ?#?\d{1,9}[:;,.] "
    r"|\bauto-?stopp(?:ed|ing)\b"
    r"|\b(?:training|fit(?:ting)?|optimi[sz]ation|search|run|loop)\b(?: (?:is|was|has been))?"
    r" (?:stop(?:s|ped)|terminated|ended|halted) early\b"
    r"|\b(?:(?:did|does|has)(?: not|n't)|no|without|stopped) improv\w{1,8}\b(?!.{0,60}\b(?:will|would|if|until"
    r"|before)\b)"
    r".{0,60}\b(?:stop(?:s|ped|ping)?|terminat(?:es|ed|ing)|end(?:s|ed|ing)|halt(?:s|ed|ing)|giving up)\b"
    r"(?!\W{0,3}(?:in|after|when|if|at \d)\b)"
    r"|^\W*(?:tol(?:erance)?|convergence(?: criteri(?:on|a))?|stopping criteri(?:on|a)) (?:was |were |has been |is )?"
    r"(?:reached|met|satisfied)(?: (?:at|after|in) (?:[a-z]{3,12} )?\d{1,9}(?: [a-z]{3,12})?)?\W*$"
    r"|\bmeets (?:the )?(?:fitness |stopping |convergence )(?:threshold|criteri\w+)\b"
    r"|\b(?:plateau\w{0,3}|saturated|flattened(?: out)?|flat)(?: (?:for|since) [^,;]{1,20})?(?:[,;:]| [-=]>) ?"
    r"(?:done|stop(?:ping|ped)?|finish(?:ing|ed)?|ending|exiting|quitting)\W*$"
    r"|[,;:] (?:finishing|ending|exiting|terminating|quitting|stopping|stopped) early\W*$"
    r"|^\W*(?:exit|stopp|finish|end|terminat|quitt|break)ing (?:from |the |out of )*(?:training|fit(?:ting)?"
    r"|optimi[sz]ation|search|loop|run) early\W*$"
    r"|^\W*(?:(?:target|goal) [a-z_=\d ]{0,24}(?:reached|achieved|met|hit)|(?:no|reached) [a-z_=\d ]{3,40})"
    r"(?: (?:after|at|in) [a-z]{0,12} ?\d{1,9}(?: [a-z]{3,12})?)?[,;:]"
    r" (?:(?:saving|writing)(?: [a-z]{2,12}){0,2} and )?(?:stopped|stopping|exiting|finished|finishing|done)\W*$"
    r"|^\W*stopping: [a-z]{1,20} [a-z]{2,20} (?:[a-z]|\d)|^\W*(?-i:CONVERGENCE): (?-i:[A-Z]{4})"  # of a solver of SciPy
)
_OUT_OF_PATIENCE = lazy(  # `EarlyStopping counter: 5 out of 5`
    r"(?i)\b(?:early[ _-]?stop(?:ping)?|patience)\b\D{0,24}(?<!\d)(\d{1,6})\s?(?:/|of|out of)\s?(\d{1,6})(?!\d)"
)
_KEEPS = lazy(  # `no improvement for 40 rounds; keeping 60 of 100 trees`: of a line behind which nothing stands
    r"(?i)\b(?:no|without)\b(?: [a-z_]{2,12})? improv\w{1,8}\b.{0,40}[;:,.] {1,2}"
    r"(?:keeping|returning|restoring|rolling back to|reverting to|using)\b"
)
_SMALL_ENOUGH = lazy(  # `delta < 1e-6, done`, `change below eps after sweep 22`, `no gain in 10 rounds -> stop`
    r"(?i)^\W*(?:[a-z][a-z\d_-]{0,19} ){0,2}(?:delta|change|shift|residual|gap|error|gradient)"
    r" (?:is |was |fell |dropped )?(?:<|below|under) ?(?:(?:the )?(?:eps|epsilon|tol|tolerance|threshold)(?![a-z])"
    r"|[\d.e-]{1,12}[,;:] (?:done|stop|finished|converged))"
    r"|^\W*no (?:gain|progress|decrease|increase) (?:for|in|since) .{1,24}(?:[,;:]|[-=]>) {0,2}(?:stop|done|finish)"
)
_STOPS_BEHIND = lazy(
    r"(?i)^\W*early[ -]?stop(?:ping|ped)?\b(?! (?:counter|patience|will))"
    r"|^\W*(?:training |the )?(?:target|goal|stop(?:ping)? criteri\w{1,3}|budget|tolerance|tol|plateau|overfit\w{0,4})"
    r"\b.{0,60}\b(?:met|achieved|reached|detected|exhausted|satisfied|used up|spent)\b"
    r"|^\W*(?:training|fit(?:ting)?|optimi[sz]ation|search|run|loop) (?:was |is |has been )?"
    r"(?:stopped|halted|terminated)\b"
    r"|[,;:.>] ?(?:so )?(?:stop(?:ped|ping)?|finish(?:ed|ing)|done|halted|halting|quitting"
    r"|(?:stopping|ending|finishing|halting) (?:the )?(?:training|fit|search|optimi[sz]ation|run|loop))\W*$"
)
_ON_THE_WAY = lazy(  # what is done in between, and what is still to come
    r"(?i)(?<!\d)\d{1,6} ?(?:/|of|out of) ?\d{1,6}(?!\d)"
    r"|\b(?:checkpoint|ckpt|snapshot|sav\w+|warm\w*|load\w*|compil\w*|eval\w*|valid\w*|test\w*|upload\w*|sync\w*|batch"
    r"|worker|rank|phase|stage|fold|trial|seed|restart\w*|resum\w*|retry\w*|next)\b"
)
_BEGINS = lazy(  # the next
    r"(?i)^\W*(?:fitting|training|starting|running|processing) [a-z]{3,12}\b.*(?:\.{3}|\u2026)"
    r"|\b(?:starting|started|begins)\W*$"
)
_WHEN = lazy(r"(?i)\b(?:when|once|if|until|while|unless|will|would)\b")
_ELSEWHERE = lazy(
    r"(?i)(?<!\w)не улучш\w{1,8}.{0,60}(?<!\w)останов(?:ка|лен)(?!\w{4})"
    r"|\bsin mejora\w{0,3}\b.{0,60}\b(?:deteniendo|detenid[oa]|parada|parando)\b"
    r"|\bsem melhor\w{1,4}\b.{0,60}\b(?:parando|parad[oa]|interrompid[oa]|encerrad[oa])\b"
    r"|\b(?:sans|aucune|pas d['\u2019]) ?amélioration\b.{0,60}\barrêté?e?\b"
    r"|\bkeine verbesserung\b.{0,60}\b(?:abbruch|abgebrochen|beendet|gestoppt|stopp)\b"
    r"|\b(?:nessun|senza) miglioramento\b.{0,60}\b(?:interrott[oa]|arresto|fermat[oa]|stop)\b"
    r"|\bgeen verbetering\b.{0,60}\b(?:gestopt|stoppen|beëindigd)\b"
    r"|\bbrak poprawy\b.{0,60}\b(?:zatrzyma\w{1,4}|przerwan\w{1,2})\b"
    r"|(?:未|没有|无)(?:提升|改善|改进|下降).{0,30}(?:停止|终止|结束|早停)"
    r"|改善(?:なし|せず|しなかった).{0,30}(?:停止|終了|打ち切)|早期(?:終了|停止)しました"
    r"|(?:개선|향상).{0,8}(?:없|않).{0,30}(?:중단|종료|중지)"
)
# `solved, stopping after episode 505`, `stopping: max_populations reached`
_STOPS = lazy(
    r"(?i)(?:^\W*|[,;:.] |[-=]> ?)stopp(?:ing|ed)(?: early)?(?: (?:at|after) (?:[a-z]{3,14} )?#?\d[\d,]{0,12}"
    r"(?: [a-z]{3,14})?)\W*$"
    r"|^\W*(?:[\w.-]{1,30}: )?stopp(?:ing|ed)\W{1,3}.{2,60}\b(?:reached|met|satisfied|attained|exhausted|converged)\W*$"
)
_NOT_CONVERGED = lazy(r"(?<!\w)ConvergenceWarning: ")  # which is told when the last step is made
_FOR_ANOTHER_REASON = lazy(
    r"(?i)\b(?:sig[a-z]{3,5}\d?|signals?|user|ctrl|disk|space|memory|time[ -]?limit|wall[ -]?time|time[ -]?out"
    r"|preempt\w*|inf|diverg\w*|lost|dead|unreachable|without (?:any )?bounds?"
    r"|keeps (?:growing|rising|increasing)|explod\w*|blow(?:s|n|ing)? up)\b|(?<![a-z])nans?(?![a-z])"
)
_LACKS = lazy(  # `Stopping: the validation set is empty`
    r"(?i)\bstopp(?:ing|ed)\b.{0,80}\b(?:empty|missing|fewer than|too few|not enough|broken|invalid|wrong|unusable"
    r"|cannot|could not)\b"
)
_IF = lazy(r"(?i)\b(?:если|wenn|falls|cuando|quando|si|se|als|jeśli)\b")  # it may come to that


def stopped_behind(lines: Sequence[str], counted: int) -> bool:
    """Whether one of the few lines behind those that count, none like it before, says that this was all."""
    after = lines[counted:]
    if not 0 < len(after) <= STOP_TOLD_IN_LAST or begins_next(after[-1]):
        return False
    known = {form(line) for line in lines[:counted]}
    return any(form(line) not in known and says_all_there_was(line) for line in after)


def says_all_there_was(line: str) -> bool:
    """Whether a line says that the work has stopped, in the words of no step on the way."""
    text = said(line)
    if _STOPS_BEHIND.search(text) is None or _ON_THE_WAY.search(text):
        return False
    return not (is_bad(line) or _WHEN.search(text) or _FOR_ANOTHER_REASON.search(text))


def begins_next(line: str) -> bool:
    """Whether a line says that the next piece of the work begins: `Fitting model: LightGBM ...`"""
    return _BEGINS.search(line) is not None


def told_in(lines: Sequence[str]) -> bool:
    """Whether one of the last few says so in so many words, or the very last one what is kept instead."""
    last = lines[-STOP_TOLD_IN_LAST:]
    told = any(map(_says, last)) and not begins_next(lines[-1])
    return told or (bool(lines) and _KEEPS.search(lines[-1]) is not None)


def _says(line: str) -> bool:
    waited = _OUT_OF_PATIENCE.search(line)
    if (_IN_ENGLISH.search(line) and not _LACKS.search(line)) or (waited and int(waited[1]) >= int(waited[2])):
        return True
    text = said(line)
    if _NOT_CONVERGED.search(line):
        return True
    if _STOPS.search(text) and not (_WHEN.search(text) or is_bad(line) or _FOR_ANOTHER_REASON.search(text)):
        return outcome_in(text) is not Outcome.LOST
    if _SMALL_ENOUGH.search(line) and not _WHEN.search(line):
        return True
    return _ELSEWHERE.search(line) is not None and not _IF.search(line)
