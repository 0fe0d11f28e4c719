"""What one line says of an end: that all is done, what was saved, how long it took, or that something failed. Pure."""

from __future__ import annotations

import re

from onbox.logs.judge.ending.results import is_figures, is_list, is_record, is_value
from onbox.logs.line.remarks import CRASHED, OF_A_LAYER
from onbox.logs.line.words import BUDGET_IS_OVER
from onbox.logs.model.lines import message
from onbox.logs.outcome import Outcome, outcome_in
from onbox.regex import lazy

_DURATION = r"\d+(?:\.\d+)?\s?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|ms)\b|\d+:\d\d"
_PARTIAL = r"(?!.{0,80}(?:checkpoint|ckpt|snapshot|\bstep|\bepoch|\biter|\bbest\b))"
_OF_LOOPS = "(?:generation|iteration|step|epoch|evaluation|episode|trial|round|iter|function evaluation)"
_MADE_THINGS = "(?:model|weights|results?|report|output|predictions|summary|figure|plot|submission)"
_HIT = "(?:hit|reached|exhausted|met)"
_CLOSING = lazy(
    r"(?i)^\W*(?:done|finished|completed?|converged|summary|results?)\b"
    r"|^\W*(?:tasks?|script|program|process|pipeline|work) (?:(?:is|was|has) )?(?:done|finished|completed?|over)\W*$"
    rf"|^\W*(?:[\w./-]{{1,60}}\.[a-z]\w{{1,4}}: )?(?:saved|wrote|written|exported|dumped|uploaded|stored)\b{_PARTIAL}"
    r"|\b(?:model|weights|results?|predictions?|report|metrics|output|pipeline|embeddings|samples?|trace|file"
    r"|archive|structure|solution|tour|route|schedule|policy|centroids"
    r"|geometry|trajectory|figure|plot|table)"
    rf"\b.{{0,40}}\b(?:saved|written|exported|stored|uploaded)\b{_PARTIAL}"
    r"|\bsuccessfully (?:installed|built|downloaded|saved|completed|finished|exported|uploaded|converted|processed"
    r"|wrote|ran)|\b(?:took|elapsed|total time|time used|wall[- ]?(?:clock )?time|runtime|run time|finished in"
    r"|in total)\b"
    rf".{{0,20}}?(?:{_DURATION})|^real\s+\d+m[\d.]+s|\b(?:added|audited|changed) \d+ packages?\b|\brecords out$"
    r"|\bsaved \[\d+(?:/\d+)?\]|^total size is \d|^\W*test(?:ing)? (?:accuracy|loss|score|results?)\b"
    r"|^\W*all\b.{0,40}\b(?:done|complete|written|\w{3,12}ed)\b|^\W*(?:best|final|overall)(?![a-z]).{0,40}\d"
    r"|\b(?!test (?-i:INFO|DEBUG|WARN))(?:best|final|overall|test|mean|average"
    r"|number of(?! (?:[a-z]{1,20} ){0,2}(?:samples|examples|images|param\w*"
    r"|points|positives?|rows"
    r"|classes|workers|gpus|threads|cores|devices|features|layers|epochs|steps)\b))\b[\w ./-]{0,30}(?:\s?[:=]"
    r"|\sis)\s?\S"
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
    r"(?:[a-z][a-z_-]{2,30}: )?(?:[a-z][a-z-]{2,19} ){1,3}(?:is |was )?(?:complete|completed|finished)\b"
    r"|^\W*(?!.{0,40}\b(?:load|read|cach|compil|import|prepar|fetch|download|tokeni|build|part|half|fold|set))"
    r"(?!.{0,40}\b(?:eval|valid|warm|init|start|checkpoint|epoch|step|stage|phase|sav|writ))"
    r"[a-z][a-z-]{1,19} (?:is |was |all )?done\W*$"
    r"|\boptimal (?:solution|value|objective)\b"
    r"|\b(?:ended|finished|completed|stopped|terminated) (?:at|on)\b.{0,30}\d{1,4}[:/.-]\d\d"
    r"|\bdone (?:generat|writ|sav|process|plott|comput|evaluat|predict|export|convert)\w{1,8}\b"
    r"|\b(?:total|overall|whole|entire)\b (?:\w+ ){0,2}(?:times?|duration|runtime)\b.{0,24}?\d"
    r"|^\W*(?:median|mean|average|avg\.?) (?:time|seconds|duration) per (?:epoch|step|iter\w*|batch|fold)\b.{0,12}\d"
    r"|^\W*(?:final|run|overall) (?:performance|timing|statistics|stats|summary|report|metrics)\b"
    r"|^\W*best \w+ (?:is|was) (?:at|from|found)\b"
    r"|^[\w.$]{1,60} - (?:all )?(?:done|finished|completed)\W*$|^attr\(,\"|^\$\w{1,40}(?:\$\w{1,40}){0,4}$"
    r"|\bmean\s{1,20}\(?(?:std|sd)\b|\b0 errors?\b|\bkb/s:\d|\blifecycle event\b(?!.{0,400}'event': '(?:build_vocab"
    r"|prepare_vocab))|\bbuild (?:succeeded|successful)"
    r"|^\W*(?!.{0,40}\b(?:epoch|step|iter|iteration|fold|batch|round|stage|phase|loop|cycle)\b)"
    r"end(?: (?:of )?[\w./-]{1,40}){0,2}\W*$"
    r"|^\W*(?:the end|that'?s (?:it|all)|fertig|ende|fini|finish|完成|完了|结束|終了|완료)\W*$"
    r"|^\W*end(?:ed)?[ _-]?time\b.{0,20}\d"
    r"|^\W*(?:session|program|script|job|run|process) (?:ended|ok|succeeded)\W*$"
    r"|\breturn(?:ed)? (?:code|status)\W{0,3}0\b|^\W*status\W{1,3}(?:success\w*|ok|succeeded|completed)\W*$"
    r"|\b(?:tol|tolerance|target|goal) (?:was )?reached\b"
    r"|\breached (?:the )?(?:tol|tolerance|target|goal|convergence)\b"
    r"|^\W*all tests (?:successful|passed)\b|^\W*pass\W*$|^ok\s{2,8}\S{1,200}\s{1,8}\d+\.\d+s$"
    r"|\b(?:tiempo|tempo|temps) total\w*\b|\bgesamt(?:zeit|dauer)\b|总(?:共)?(?:耗时|用时)"
    r"|(?<!fetch )(?<!data )(?<!input )(?<!loader )(?<!batch )(?<!buffer )\bqueue (?:is )?empty\b"
    r"|\((?:finished|completed?|done|success\w*)\)\W*$|^\W*(?-i:CONVERGENCE): (?-i:[A-Z])|^=+ [\w ]{1,40} summary =+$"
    r"|^(?:s )?(?:un)?satisfiable$|^c exit [12]0$"  # of a SAT solver
    r"|^\W*(?!load|read|sav|writ|init|warm|eval|valid|cach|compil|download|prepar|test|import|fetch|scan)[a-z]{3,14}ing"
    r" (?:is |was )?done\b"
    r"|^\W*peak (?:\w{2,8} )?mem(?:ory)? (?:consumption|usage|used|allocated)\b|\breal time: \d.{0,20}\bcpu\b"
    r"|^\W*[a-z]{2,12} done(?:: \d|, [a-z])|^\W*(?:pass|scan|check) completed\b|^progress=end$"
    r"|^\W*(?:mean|average)\W{1,3}\d[\d.]{0,12}\W{1,4}(?:std|sd|stdev)\b"
    r"|^PLAY RECAP \*|^\d{1,6} tests?, \d{1,6} passed, \d{1,6} failed|\bthis progress looks :"
    r"|^ref '.{1,80}' was rewritten$|\b(?:ended|terminated|exited|finished|completed) normally\b"
    r"|^\W*(?:eof|end of (?:file|input|data|stream)) reached\b(?!.{0,40}\b(?:unexpected|premature|error)\w*)"
    r"|^\W*(?:simulation|execution|run|job|training|analysis|calculation) finali[sz]ed\b"
    rf"|^{_PARTIAL}\s{{0,8}}[\w./-]{{1,80}}\.[a-z]\w{{1,5}} (?:was )?(?:written|saved|exported)\W*$"
    r"|^writing superblocks and filesystem accounting information: .*\bdone\b|^\s*execution time \(avg/stddev\):"
    r"|^chunk index:\s{1,40}\d{1,12}\s{1,40}\d{1,12}$|^failed \(failures=\d|^ran \d{1,6} tests? in \d"
    r"|^\W*\d[\d,]* [a-z]{3,20} (?:->|=>|\u2192) \S{1,200}\.[a-z]\w{1,5}$|^\d[\d.]*% overall alignment rate$"
    r"|\btime taken to find\b.{0,40}\d|\breached (?:the )?(?:t_?end|t_?max|end time|final time)\b"
    r"|^pass completed, \d{1,12} bad blocks found|\breached (?:the )?required accuracy\b"
    r"|^(?-i:[A-Za-z]\w{2,20} Done\.)$"
    r"|\bcross[ -]validat(?:ion|ed)\b[\w ./-]{0,30}(?:\s?[:=]|\sis)\s?\d"
    r"|^\W*(?:suggested|recommended) [\w ./-]{2,30}[:=]\s?\S|^\W*stop: max(?:imum)?\b"
    r"|\bno (?:errors?|problems?|issues?|differences?|corruption) (?:was |were )?(?:found|detected)\b"
    r"|\bmark(?:ing|ed) (?:task|job|run) as success\b"
    r"|\btermination condition is satisfied\b|^\W*local minimum (?:found|possible)\b|^\W*optimization completed\b"
    r"|^\W*frozen\b|\bnothing (?:left|more|else) to \w|\b(?:queue|backlog) (?:is |was )?drained\b"
    r"|\bspider closed \((?!shutdown|cancelled)"
    r"|(?<!rate )(?<!time )\b(?:limit|quota|cap) (?:of )?\d[\d,]{0,15} (?:was |is )?reached\b"
    r"|\b(?:optimum|optimal \w{3,12}|target|goal) (?:was )?found\b|\bbest solution found\W*$|\bauto-?stopp(?:ed|ing)\b"
    r"|\bno improvement\b.{0,40}\bstop(?:ped|ping)?\b"
    rf"|^\W*(?:stopp(?:ed|ing)\W{{1,3}}(?:by |at )?)?(?:the )?{_OF_LOOPS} limit(?: (?:was |is )?{_HIT})?\W*$"
    rf"|^\W*(?:stopp(?:ed|ing)\W{{1,3}}(?:by |at )?)?(?:the )?max(?:imum)? (?:number of )?{_OF_LOOPS}s?"
    rf"(?: (?:was |is |were )?{_HIT})?\W*$"
    r"|^\W*(?!.{0,60}\b(?:workers?|ranks?|threads?|\w*loaders?|nodes?|clients?|pools?|process(?:es)?|connections?)\b)"
    r".{0,60}\b(?:shut(?:ting)? ?down|stopped|closed) cleanly\b|[,;(] {0,2}best (?:iteration|round)\W{1,3}\d{1,9}\W*$"
    rf"|^\W*(?:(?:trained|final|output) )?{_MADE_THINGS}\s?(?:->|=>|\u2192|in|at) {{1,4}}"
    r"(?:[a-z_-]{1,20}/){0,8}[a-z_-]{1,40}\.[a-z]\w{1,5}\W*$"
    rf"|^\W*(?:artifacts|outputs): [\w./-]{{1,80}}\.[a-z]\w{{1,5}}(?:, [\w./-]{{1,80}}){{0,6}}$"
    r"|^\W*see \S{1,160}\.(?:html|md|csv|json|pdf|txt)\W*$"
    r"|^\W*clos(?:ing|ed) (?:the )?(?:env|environment|simulator)s?\W*$"
    rf"|{BUDGET_IS_OVER}|\bcost time\W{{1,3}}(?:{_DURATION})|^\W*voluntary context switches:"
    r"|^processed \d{1,12} tokens with \d{1,12} phrases; found:"  # of conlleval
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
_SAYS_SO = lazy(r"(?i)\b(?:done|finished|completed?|success\w*|saved|written|wrote|ended|end|best|final)\b")
_LEAVES = lazy(r"(?i)^\W*(?:terminat\w+|exiting|goodbye|bye)\b")
_GRAVE = frozenset({"ERROR", "CRITICAL", "FATAL"})
_FAILS = lazy(
    r"(?i)\b(?:execution|job|step|stage|task|rule|command|run|script|process)\b.{0,24}\b(?:failed|aborted"
    r"|killed)\b|\bdid not (?:complete|finish|succeed)"
    r"|\binvalid compressed data\b|\bunexpected end of (?:file|input)\b|\bnot (?:complete|finish|succeed)"
)
_PART = lazy(r"(?<![\w./])(\d{1,9})/(\d{1,9})(?![\w./])")
_MIDWAY = lazy(
    r"(?i)\b(?:best|mean|average|current)\b.{0,20}\b(?:so far|yet|is trial)\b|^\W*(?:resum|start|load|restor)"
)
_NONE = lazy(r"(?i)\b(?:best|final)\b[^:=]{0,30}[:=]\s{0,4}(?:none|null|nil|n/?a|-)\W{0,3}$")  # `best model: none`
_PREPARED = lazy(
    r"(?i)\b(?:load|initiali[sz]|init|captur|warm|set ?up|start ?up)\w*\b.{0,60}\b(?:finished|done|took|ready)\b"
    r"|^\W*all \d{1,5} .{0,30}\b(?:joined|connected|registered|started|launched"
    r"|loaded|initiali[sz]ed|spawned)\b"  # a start
)
_NO_LETTERS = lazy(r"(?<=\d)\s?(?:ms|s|min|h)\b|[\W\d_]+")  # nor units: `elapsed: 59.2s`, `elapsed: 1.1min`
# A logger's name before its level, where `message` leaves it.
_NAMED_LEVEL = lazy(r"^[\w.$-]{1,60}\s{1,80}\[?(?:DEBUG|INFO|NOTICE|WARN(?:ING)?)\s{0,8}\]?[\s:|-]{1,20}")
_DONE = lazy(r"(?i)^\W*(?:all )?(?:done|finished|completed)\s?[.!](?:[\s\d]|$)")  # `Done! Best: 85/100 wins`


def closes(line: str) -> bool:
    """Whether a line is one that programs end with; of `3/5` things done it is not."""
    text = said(line)
    part = _PART.search(text)
    if OF_A_LAYER.match(text) or "Warning: " in text or _NONE.search(text):
        return False
    return (
        bool(_CLOSING.search(text) or _CLOSING.search(line) or _TOOK.search(text) or _DONE.match(text))
        and not _MIDWAY.search(text)
        and not _PREPARED.search(text)
        and not (part and int(part[1]) < int(part[2]) and not _DONE.match(text))
    )


def says(line: str) -> bool:
    """Whether a line closes, or takes leave, which programs do after an error as well."""
    return closes(line) or _LEAVES.search(said(line)) is not None


def says_so(line: str) -> bool:
    """Whether a line says that it is done in so many words: figures come behind an error too."""
    return closes(line) and _SAYS_SO.search(line) is not None


def makes(line: str) -> bool:
    """Whether a line says, in whatever words, that the work is there."""
    if is_bad(line) or _MIDWAY.search(line) or _PREPARED.search(line):
        return False
    return outcome_in(line) is Outcome.MADE


def is_grave(line: str) -> bool:
    """Whether a logger calls a line an error."""
    return message(line).level in _GRAVE


def said(line: str) -> str:
    """A line without what a logger writes before it."""
    text = message(line).text
    named = _NAMED_LEVEL.match(text)
    return text[named.end() :] if named else text


def is_result(line: str) -> bool:
    """Whether what came out stands in a line, and nothing else."""
    return is_value(line) or is_value(said(line)) or is_record(line) or is_list(said(line)) or is_figures(line)


def is_bad(line: str) -> bool:
    """Whether a line tells of a crash, or that something failed."""
    return bool(CRASHED.search(line) or _FAILS.search(line))


def claim(line: str) -> str:
    """`best:`, `mean reward =`: what a value is called; "" where a line closes with something else."""
    found = _CLOSING.search(said(line))
    return f"{form(found[0])}=" if found and re.search("[:=]", found[0]) else ""


def form(line: str) -> str:
    """A line's words: lines that one statement of a program wrote have the same."""
    return _NO_LETTERS.sub(" ", line)[:60]
