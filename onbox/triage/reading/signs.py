"""Lines that are no fault: progress, a new attempt, another's trouble, a lost loss. Pure.

Words of the log are used in no case here, only the ways in which loops, launchers and trainers report.
"""

from __future__ import annotations

import re
from functools import lru_cache

from onbox.regex import lazy
from onbox.triage.meaning import without_none
from onbox.triage.reading.going_on import HANDLED

_COUNTED = (
    r"(?:global_?)?(?:step|epoch|iter(?:ation)?|it|batch|episode|update|nupdates|trial|round|task|shard"
    r"|cycle|case|window|request|message|object|key|event|molecule|candidate|sample|file|chunk|part|prompt|example"
    r"|doc|game|frame|tree|fold|generation|token|record|job|rows?"
    r"|item|image|video|clip|page|query|question|page|tick)s?"
)
PROGRESS = lazy(
    r"\d%\|| \d+(?:\.\d+)?\s?k?(?:it|s|ex|tok|b|samples?|steps?|rows|docs?)/(?:s|it|sec)\b|\d[kM]?it/"
    rf"|\b{_COUNTED}\b[\s:=#\]\[('\"]{{1,6}}\d|(?<!/)\b\d[\d,]{{0,20}}\s{{0,8}}/\s{{0,8}}\d[\d,]{{0,20}}\b(?!/\d)"
    rf"|\b\d[\d,]{{0,20}} {_COUNTED}\b|\"(?:done|processed|completed|handled|offset)\" ?: ?\d"
    r"|\b(?!attempt|try|rank|node|worker|process|core|gpu|device|retry|host|test)[a-z]{2,20} \d{1,9} of \d{1,9}\b"
    r"|(?:^|[\s,{'\"_/|.\-])(?:\w{0,24}loss\w{0,16}|\w{0,24}acc(?:uracy)?|\w{0,24}ppl|lr|reward|return|score"
    r"|bleu|wer|cer|mse"
    r"|mae|rmse|elbo|ce|nll|auc|f1|grad_?norm|mfu|tflops|\w{0,24}err(?:or)?|kl|miou|map\d{0,20}|psnr|logloss|rmsle"
    r"|obj)['\"]?[\s:=|]{1,4}(?:tensor\(\[?)?(?:-?\d|nan\b|-?inf\b)"
    r"|\b(?:GET|POST|PUT|HEAD|DELETE|PATCH) /\S{0,200}.{0,40}\b[1-5]\d\d\b"  # a server answers
    r"|\|[ =]{0,200}\|\s{0,4}\d{1,3}%"  # the bar of R
    r"|^\s*\[?\d+\]?\s{1,8}(?:train|valid|test|eval|loss|\d+\.\d)|\btok(?:ens)?/s|eta:? ?\d|\bheld[- ]out\b.{0,20}\d",
    re.IGNORECASE,
)
_SWITCH = lazy(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+=[01]\b(?!\.)")  # an environment variable that is on or off
NOT_PROGRESS = lazy(
    r"^\W{0,4}skipp(?:ing|ed)\b|traceback|\bfile \"|abort|crash|unsuccessful|backing off|giv(?:ing|en) up"
    r"|\bfail(?:ed|ure|ing)?\b(?!\D{0,3}0\b)|\bexit(?!o)|\bdying|emergency"
    r"|\bkill(?:ed|ing)\b|terminat|interrupt|\bretr(?:y|ies|ying)\b|(?<!\d )(?:sav(?:ed|ing)|writ(?:ten|ing))\b|"
    r"\bwait(?:ing)?\b|heartbeat|still alive|keep-?alive|sleep|resum|restor|restart|preempt|cancel"
    r"|^\s+file |exitcode|\brank\s{1,8}:|local_rank|shutting|stopp|loaded|loading|checkpoint shards|"
    r"download|fetching|total capacity|elapsed only|timeout|timed out|requested|world[_ ]size|namespace\("
    r"|\b(?:maximum|minimum) \w{1,40} (?:for|of)\b"
    r"|\boom when|\berr(?:or)?:?\s{1,4}-?\d+(?![\d.])|\berror (?:code|number|no\.?)\b|\brecords (?:in|out)\b"
    r"|\bbytes\b.{0,40}\bcopied\b"
    r"|\b(?:cannot|could not|can't|unable to)\b|^\W{0,3}done\. |\bat \S{1,200} line \d|nccl (?:info|warn)"
    r"|\s\+{1,2}\w[\w.]*=|no progress|stuck|idle|^g?make\b.{0,20}\*\*\*"
    r"|^exception in thread |\brepeated \d+x across|^frame #\d+: ",
    re.IGNORECASE,
)
# A bar counts whatever its description says ("eval_error: 12%|"), but not one of things being fetched.
BAR = lazy(r"\d%\|.{0,400}\d/\d{1,20} \[|\d(?:it/s|s/it)")

FETCHING = lazy(r"\bloading\b|download|fetching|checkpoint shards|upload|extracting|resolving", re.IGNORECASE)

# What a logger says while a program comes to its end, well or not.
FAREWELL = lazy(
    r"\b(?:shut\w*|stop\w*|clos\w+|exit\w*|clean\w*|clear\w*|delet\w+|remov\w+|terminat\w*|disconnect\w*|releas\w+"
    r"|finali[sz]\w+|tear\w*|unregister\w*|flush\w*|sav\w+|bye|abort\w*|fail\w*|errors?|kill\w*|dump\w*|destroy\w*"
    r"|total|elapsed|end\w*|summary)\b",
    re.IGNORECASE,
)
# A logger says that nothing happens.
WAITS = lazy(
    r"(?i)\b(?:still )?waiting\b(?! time)|\bstill (?:blocked|pending|not (?:ready|there|up))\b"
    r"|\bno (?:response|progress|heartbeat|data|answer|batch)\b.{0,24}\b(?:for|since|in|after)\b"
)
STOPPED = lazy(r"\^C|\binterrupt(?:ed)?\b|\bcancel(?:led|ed)\b|\b(?:stopped|killed|aborted) by\b", re.IGNORECASE)
SAVED = lazy(
    r"\b(?:saved|wrote|written(?! in \w+ )|uploaded|stored|synced|exported|committed)\b"
    r"|\bwriting [\d,]{1,20} bytes to\b|\bgot [\d,.]{1,12} ?(?:bytes|[kmg]i?b|files) from\b",
    re.IGNORECASE,
)
# What is saved on the way, or by who has to leave, is no result.
MIDWAY = lazy(
    r"\b(?:checkpoints?|ckpts?|snapshots?|states?|restart\w*|emergency|partial\w*|before|best so far|backup|step|epoch"
    r"|progress|crash\w*|core|dump\w*|log|(?:crash|error|bug|status) report|trace\w*|debug)\b",
    re.IGNORECASE,
)
FAILED = lazy(  # but a figure may be called error
    r"\b(?:fail\w*|could not|cannot|unable|not|error(?!\s{0,4}[:=]?\s{0,4}\[?\d)|lost|partial\w*|0 of)\b", re.IGNORECASE
)
UNCAUGHT = lazy(  # only a runtime writes so, and of what nobody caught
    r"\S{1,200}:\d{1,7}:in .{1,400} \((?:[A-Z]\w{0,40}::){0,4}[A-Z]\w{1,60}\)$"
    r"|(?:PHP )?Fatal error: {1,4}Uncaught |lua(?:jit|\d(?:\.\d)?)?: \S{1,200}:\d{1,7}: "
    r"|Exception in thread \"main\" |fatal error: out of memory$|panic: |thread 'main' panicked at "  # JVM, Go, Rust
)


_BAD = r"(?:[-+]?nan|[-+]?inf(?:inity)?)"
_LOSS = (
    r"(?:(?:\b|_)(?:(?:train(?:ing)?|total|avg|mean|running|batch|step|lm|reduced|smooth|smoothed|mlm|ctc"
    r"|policy|value|actor|critic|g|d|gen|disc|aux|reg|cls|box|obj|bbox|mask|rpn|ce|kl|recon[a-z]{0,12}|q|epoch"
    r"|cur[a-z]{0,8}|final|task|sum|objective)[_ /.\-]?|(?!val|test|eval|dev)[a-z]{1,14}_){0,5}loss"
    r"(?:es)?(?:[dg]\b|[_/.\-](?:train|total|step|epoch|mean|avg"
    r"|ce|cls|g|d))?|\b(?:train[_ /.]?)?(?:ce|nll|ppl|perplexity|mse|mae|elbo|cost|objective|nelbo|bpb"
    r"|verlust|perte|p[eé]rdida|perda|perdita|потер[яи]|損失|损失|손실"
    r"|bpc|cross_?entropy|logloss|rmse|energy|residuals?|resid|(?:l2|residual|max)[_ ]norm"
    r"|(?:td|bellman|train(?:ing)?|fit|mae|mse)[_ ]error|(?<!grad )(?<!gradient )norm))"
)
_IS = r"['\"]?\s{0,20}(?:\([^)]{0,40}\)\s{0,20})?(?:[:=|]\s{0,20})?"  # no two blanks side by side
LOST_LOSS = lazy(rf"(?<![a-z]){_LOSS}{_IS}(?:tensor\()?['\"]?{_BAD}\b", re.IGNORECASE)
# A gradient that is lost counts where the loss is nothing at all: mixed precision skips a step now and then.
LOST_GRADIENT = lazy(rf"\bg(?:rad(?:ient)?)?[_ ]?norm['\"]?\s{{0,20}}(?:[:=|]\s{{0,20}})?['\"]?{_BAD}\b", re.IGNORECASE)
ZERO_LOSS = lazy(
    rf"(?<![a-z]){_LOSS}['\"]?\s{{0,20}}(?:[:=|]\s{{0,20}})?['\"]?0(?:\.0*(?:e[+-]?\d{{1,20}})?)?(?![\d.])",
    re.IGNORECASE,
)
VAL_LOSS = lazy(r"(?:val(?:id(?:ation)?)?|test|eval(?:uation)?|dev)[_ /.\-]?$", re.IGNORECASE)
FINITE_LOSS = lazy(rf"(?<![a-z]){_LOSS}{_IS}(?:tensor\()?['\"]?-?\d", re.IGNORECASE)
OVERFLOW = lazy(
    r"(?:overflow|skipp\w{0,24} step|reducing).{0,100}?(?:loss[_ ]scale\w{0,24}|scale)\b.{0,40}?\bto ([\d.eE+-]+)",
    re.IGNORECASE,
)
# A row of `df`: bytes or inodes, as the header, the command or a second row of the same mount tells.
DF_ROW = lazy(
    r"^(\S{1,200})\s{1,80}[\d.]{1,20}[KMGTP]?i?\s{1,40}[\d.]{1,20}[KMGTP]?i?\s{1,40}([\d.]{1,20})[KMGTP]?i?\s{1,40}"
    r"(\d{1,3})%\s{1,20}(/\S{0,200})"
)
# The same of `df --output`, where the mount comes first.
DF_OUTPUT_ROW = lazy(
    r"^(/\S{0,200})\s{1,80}[\d.]{1,20}[KMGTP]?i?\s{1,40}[\d.]{1,20}[KMGTP]?i?\s{1,40}([\d.]{1,20})[KMGTP]?i?\s{1,40}"
    r"(\d{1,3})%$"
)
INODES_FULL = lazy(
    r"\binodes?\b.{0,40}100 ?%|\b100 ?%.{0,20}\binodes?\b|\bIUse%\s?[=:]\s?100\b|\bfree inodes\W{0,3}0\b", re.IGNORECASE
)
INODE_HEADER = lazy(r"\bIFree\b|\bIUse%|\bInodes\b|\bdf\s{1,8}(?:\S{1,80}\s{1,8})?-\w{0,4}i|\bdf\b.{0,20}--inodes")
# Inside a server, what is preempted or cancelled is a request; and what is told of an earlier boot or run is over.
_NOT_THE_RUN = lazy(
    r"\b(?:(?:sequence|seq|request|req|prompt|query|thread|goroutine|beam|kv)s?|session \S{0,40}\d)\b.{0,40}"
    r"\b(?:preempt|evict|cancel|abort|kill|swap)"
    r"|\b(?:preempt|evict|cancel|abort|swapp?)\w*\b.{0,24}\b(?:sequence|request|prompt|quer)(?:y|ies|s)?\b"
    r"|^(?:\S{1,20}> ?)?(?:user|assistant|human|bot|prompt|question|answer|completion|generated)\s?:"
    r"|\b(?:client|player|visitor) #?\d{1,9}\b.{0,80}\bdisconnected\b"
    r"|\bof (?:an)?other (?:user|job|tenant|process|container|group)s?\b|\bunaffected\b|\bnot (?:ours|us"
    r"|this (?:job|run))\b"
    r"|\[(?:http|https|ajp)-(?:nio|bio|apr)2?-[\w.-]{1,40}-exec-\d{1,6}\]|\bqtp\d{4,12}-\d|\bXNIO-\d{1,3} task-"
    r"|use of closed network connection"  # closed by the program itself
    r"|\brequest: \"(?-i:GET|POST|PUT|HEAD|DELETE|PATCH|OPTIONS) /"  # a web server, of what it was asked for
    r"|\bUCX\s{1,4}(?:DEBUG|INFO|TRACE)\b"
    r"|\b(?:cache|entr(?:y|ies)|keys?|items?|pages?|blocks?|objects?|connections?)\b.{0,16}\b(?:evict|reclaim)"
    r"|\b(?:evict|reclaim)\w{0,4} \d{1,12} (?:\w{1,20} )?(?:entries|keys|items|pages|blocks|objects|bytes)\b"
    r"|^\s{1,20}at [\w.$/<>]{3,200}\("  # a frame of the JVM, which may be named like an exception
    r"|^\s{2,60}\[--?[a-z][\w-]{0,60}[ \]]"  # options that a usage lists
    r"|^\s{0,8}\|[^|]{1,60}\|\s{0,20}\d{1,12}\|$"  # a row that Spark shows
    r"|\bexit(?:ed)?(?: with)? (?:exit )?(?:code|status):? 0\b|^parallel: Warning: "
    r"|\b(?:sample )?prediction: ['\"]|\bnone (?:firing|triggered|active|pending)\b"
    r"|cumulative_preemption|\bsen(?:t|ds?|ding) (?:an? |the )?(?-i:SIG[A-Z])"
    r"|\b(?:the )?(?:last|previous|earlier|prior|former) (?:boot|run|job|attempt|session|crash|night)\b",
    re.IGNORECASE,
)


_COUNT = lazy(
    r"[\s{]{0,20}(['\"])[^'\"]{1,120}\1: [\d.]{1,20},?\W{0,3}$"
    r"|\s{1,12}> \S"
    r"|\s{1,20}(?:class|label|category|type|topic|tag)[ :=]{1,3}[\w.-]{1,40}\s?[:=]\s{0,20}\d{1,12}\s{0,4}$"
)


_COUNTED_LINE = lazy(r"\s{1,20}(\d{1,9})\s{1,4}[A-Za-z/\[*]")


# A class and its scores, one of many: `segmentation fault   0.91   0.88`
_SCORED = lazy(
    r"\s{0,20}[A-Za-z][A-Za-z _-]{2,40}\s{1,40}(?:0?\.\d{1,6}|1\.0{1,6})(?:\s{1,20}\d[\d.]{0,10}){0,6}\s{0,4}$"
)
# Whose words come below, where a model's samples are shown.
SPEAKER = lazy(
    r"\W{0,8}(?:user|assistant|system|human|prompt|completion|response|answer|question|instruction|generated(?: text)?"
    r"|model output|(?:(?:last|sample|some|random|worst|top|few) ){0,2}(?:\d{1,3} )?"
    r"(?:examples?|predictions?|samples?|generations?|completions?))\W{0,4}$",
    re.IGNORECASE,
)


REPORT_ENDS = lazy(r"The output \(if any\) follows:")  # LSF: how the job ended stands above what it has printed


def is_count(text: str, previous: str) -> bool:
    """Whether a line is one of a table of counts (`'response_status_count/429': 28,`, `  263  Out of memory`), or is
    quoted in a report. previous: the line before; lines that are numbered one after another are no counts.
    """
    if _COUNT.match(text) or _SCORED.match(text):
        return True
    counted, before = _COUNTED_LINE.match(text), _COUNTED_LINE.match(previous)
    return counted is not None and (before is None or int(counted[1]) != int(before[1]) + 1)


def is_of_another(text: str) -> bool:
    """Whether a bad word is about a request inside a server, or about an earlier boot or run."""
    return bool(_NOT_THE_RUN.search(text))


# A record of what was said or done (a chat, an answer, a row of data), without a field for a program's own trouble.
_RECORD = lazy(r"\s{0,8}\{\s{0,8}[\"']\w")
_TELLS_TROUBLE = lazy(
    r"[\"'](?:err(?:or)?s?|exception|exc(?:_info|_text)?|stack(?:_?trace)?|traceback|failure|reason|fatal|msg"
    r"|message|log"
    r"|level|levelname|severity|lvl)[\"']\s{0,4}:\s{0,4}(?:[\"']|\{\s?[\"'](?:err|message|msg))"
    r"|[\"'](?:ok|success|succeeded)[\"']\s{0,4}:\s{0,4}false\b",
    re.IGNORECASE,
)


def is_record(text: str) -> bool:
    """Whether a line is such a record: what it quotes is none of the run's own trouble."""
    return bool(_RECORD.match(text)) and not _TELLS_TROUBLE.search(text)


# Text of another time or place: statements of SQL, titles of commits, advice for the case that something happens, what
# sudo's programs remark and work on.
_OF_ANOTHER_TIME = lazy(
    r"\s{0,8}(?:INSERT INTO \S|UPDATE \S{1,80} SET |VALUES ?\(|COPY \S{1,80} \()"
    r"|(?=[0-9a-f]{0,11}\d)(?=[0-9a-f]{0,11}[a-f])[0-9a-f]{7,12} (?!\d)\S"
    r"|\W{0,6}(?:If|Whenever|In case) [a-z]"
    r"|.{0,80}\bcould not change directory to \"[^\"]{1,300}\": Permission denied"
)


def is_of_another_time(text: str) -> bool:
    """Whether a line names troubles of something that is only written down there, or remarks what does not matter."""
    return _OF_ANOTHER_TIME.match(text) is not None


_STATE = lazy(
    r"\b(?:COMPLETED|FAILED|TIMEOUT|OOM(?:_KILL|_KILLED)?|OUT_OF_MEMORY|NODE_FAIL|CANCELLED|PREEMPTED|RUNNING|PENDING)\b"
)
COLUMNS = 3


def names_columns(text: str) -> bool:
    """Whether a line is the head of a table whose columns are named by the states of jobs."""
    return "ED" in text and len(_STATE.findall(text)) >= COLUMNS and not any(map(str.isdigit, text))


# `evicted=22 killed=0`: a field that counts is no event.
COUNTS = lazy(
    r"(?<![\w.])(?:\w{1,24}_)?(?:evict\w{0,6}|preempt\w{0,6}|kill(?:s|ed)|ooms?|cancel\w{0,6}|abort\w{0,4}|timeouts?"
    r"|timed_out|crash\w{0,3}|interrupt\w{0,2}|lost|http_?[45]\d\d)=\d{1,12}(?![\w.:%])"
    r"|\b(?:aborted|killed|lost|crashed|evicted|cancelled) [a-z]{3,16}\b[\w ./-]{0,40}[:=]\s?\d{1,12}$",
    re.IGNORECASE,
)


# A warning of Python's, or a bar of whatever is fetched: a program is at work.
_AT_WORK = lazy(r"\.py:\d{1,7}: [A-Z]\w{0,60}Warning: |\d%\|.{0,400}\d/\d{1,20} \[")


def shows_life(text: str) -> bool:
    """Whether a program is at work, though no loop and no logger of it speaks."""
    return (".py:" in text or "%|" in text) and bool(_AT_WORK.search(text))


# What only a host with TPUs says; one that looked for them in vain says that it found none.
TPU_HOST = lazy(
    r"\bTpuDevice\b|\bTPU v?\d|\bTPU_\d|libtpu|/dev/accel\d|\btpu[-_ ](?:vm|pod|slice|worker|cores?|chips?|devices?)\b"
    r"|(?:backend|platform|device|accelerator)s?[\s:='\"]{1,4}tpu\b|HBM\d?\b|\btpu_driver",
    re.IGNORECASE,
)
NO_TPU = lazy(
    r"unable|not found|no such|skipp|\bno\b|not available|without|module|fall|\bgpu|cuda|nvidia|\bnot\b", re.IGNORECASE
)


# What its reader may do, and has not done.
_INSTRUCTS = (
    r"\b(?:(?:press|hit|type) .{1,30} to (?:quit|stop|abort|cancel|exit|end|interrupt|kill)"
    r"|ctrl ?[-+] ?c(?: again)? to \w{2,12}|any ?time with|to kill (?:it|this|the))\b"
)
INSTRUCTS = lazy(_INSTRUCTS, re.IGNORECASE)
HEDGED = lazy(
    rf"{_INSTRUCTS}|"
    r"\b(?:might|may(?! \d)|(?<!nothing )could(?! not)|would|most likely|probably|possibly|usually|for example|e\.g\."
    r"|expected failure|if (?:you|the|your|an?|this|it|any)|in case|whenever|how to|means|why (?:do|does|did|is)"
    r"|what (?:does|is|causes)|check (?:dmesg|whether|if)|why did|self-?test|simulat(?:ed?|ing)|trap(?!: exit)"
    r"|until (?:it|they|one|the \w{2,12}) (?:is|are|gets?|was|were)"
    r"|(?:^|[+$] )echo|no core dumped|ulimit|fault injection|negative test)\b"
    # a command that is shown
    r"|^\++ |^\$ |^> (?-i:[a-z]|\./)[\w./-]{1,40} |^running {1,4}'"
    r"|\|\| ?[({]|\|\| (?:exit|true|echo|:)\b|; ?exit \d{1,3} ?[;)}]",
    re.IGNORECASE,
)


# A list of what may have been the cause tells none.
_MAY_BE_CAUSES = lazy(r"\b(?:common|potential|possible|likely|probable) (?:root )?causes?\b.*$", re.IGNORECASE)


def told(text: str) -> str:
    """A line without the causes that it only thinks possible, and without the troubles of which it counts none."""
    return without_none(_MAY_BE_CAUSES.sub("", text) if "cause" in text else text)


# A shell takes a program's argument for a command where the line before lacks its backslash: the program ran without.
ARGUMENT_TAKEN = lazy(r"(?:\bline |\w: )\d{1,9}: (?:--?[a-zA-Z]|[\w.]{1,80}=)\S{0,200}: (?:command )?not found")

# What a node's daemon does around a job: the job has ended, or has not begun.
HOUSEKEEPING = lazy(
    r"^\W{0,4}slurmstepd\S{0,80}: error: (?!\*\*\*|.*(?:oom|kill|memory)).*"
    r"(?:\bcgroup|\brmdir|\bunlock|common_file_write|energy|jobacct|\bx11\b|pidfile)"
    r"|\b(?:failed|unable|could not|cannot) (?:to )?(?:send|upload|report|submit) (?:\w{1,20} )?"
    r"(?:usage|telemetry|analytics)\b"  # what a tool wants to tell its makers
    r"|^error: (?:test failed, to rerun pass|[1-9]\d{0,8} targets? failed)\b"  # of Cargo, behind what failed
    # What shells, desktops and libraries say at their start on a machine without a terminal, a display or a GPU.
    r"|\bLocal rendezvous is aborting with status: OUT_OF_RANGE: End of sequence"  # of each data set, in TensorFlow
    r"|^Failed to connect to bus: |^libGL error: |^mesg: ttyname failed|cannot set terminal process group"
    r"|^stty: .{1,40}: Inappropriate ioctl|^sudo: unable to resolve host |^mbind: Operation not permitted"
    r"|cannot set LC_\w{2,12} to default locale|\bSetting LC_\w{2,12} failed, using \"C\""
    r"|\bfailed call to cuInit: (?:CUDA_ERROR_NO_DEVICE|UNKNOWN ERROR \(303\))"
    r"|\bunable to register cu\w{2,8} factory\b|\bpip's dependency resolver does not currently\b"
    r"|\borte_base_help_aggregate\b"  # of Open MPI, how to see more
    r"|^\*{3} Check failure stack trace|^PC: @ |^\s{1,8}@\s{1,8}0x[0-9a-f]{4,20}\s",  # of glog
    re.IGNORECASE,
)

# What a configure script tries out is meant to fail where something is missing.
CONFIGURE_CHECK = lazy(r"\bcmTC_\w|\bconftest\.|\bCMakeTmp\b|^config\.status:\d{1,6}: [a-z]{2,12}ing ")

# A line of a dumped configuration: one name in quotation marks, and its value.
_SETTING = lazy(
    r"^[\s{]{0,80}(['\"])(?!\w*(?:loss|acc|reward|score))[\w./-]{1,60}\1: {1,30}[^:]{0,120}$", re.IGNORECASE
)

# What a program starts beside itself: its end is not the program's.
OF_A_HELPER = lazy(
    r"(?i)\b(?:helper|prefetch\w*|server|worker|daemon|tunnel|proxy|sidecar|monitor|child|subprocess|background)\b"
)

# How often something has gone wrong, told beside the rest: `timeouts 3`, `crashed engines 0`.
_TALLY = lazy(
    r"\b(?:timeouts|retries|failures|restarts|aborts|kills|failed|crash(?:es|ed(?: \w{1,40})?))[\s:=]{1,3}\d{1,20}\b",
    re.IGNORECASE,
)


# The how-manieth of so many things a line is about, whatever is done with it.
_ITEM = lazy(r"\W{0,2}\d{1,9} ?/ ?\d{1,9}\W{0,2}\s")
# Many names and their figures: `actor/entropy:0.50 - response/aborted_ratio:0.0 - `
_FIGURES = lazy(
    r"^(?:global_?)?(?:step|epoch|iter(?:ation)?|update)\W{1,3}\d{1,12}\W{1,4}"
    r"(?:[A-Za-z][\w/.@-]{0,60}[:=] ?-?\d[\d.e+-]{0,24}[ ,|;-]{1,4}){4}"
)
_GETS = lazy(r"\b(?:download|fetch|load)\w*", re.IGNORECASE)


def is_progress(text: str) -> bool:
    """Whether a loop reports that it went on."""
    if not PROGRESS.search(text) or ("_" in text and not PROGRESS.search(_SWITCH.sub("", text))):
        return False
    if _SETTING.match(text):
        return False
    if BAR.search(text):
        return not FETCHING.search(text)
    if _FIGURES.search(text):
        return True
    if _ITEM.match(text):
        text = _GETS.sub("", text)
    return not NOT_PROGRESS.search(text) or not NOT_PROGRESS.search(_TALLY.sub("", text))


def lost_loss(text: str) -> bool:
    """Whether a training loss is NaN or infinite in this line. One of validation alone is not the run's."""
    if LOST_GRADIENT.search(text) and ZERO_LOSS.search(text):
        return True
    shape = _shape(text)
    return bool(_lost_losses(shape)) and not _is_finite(shape) and not _OF_SOME.search(text)


# Some of many, which were counted.
_OF_SOME = lazy(
    r"(?i)\b(?:errored|failed|pruned|bad|skipped|diverged) (?:trials?|runs?|seeds?|folds?|models?|cells?)\b"
)


def nan_loss(text: str) -> bool:
    """Whether a lost loss is NaN rather than infinite."""
    return any(hit.endswith("nan") for hit in _lost_losses(_shape(text)))


def finite_loss(text: str) -> bool:
    """Whether a training loss stands in this line as a number."""
    return _is_finite(_shape(text))


# A loop that has lost its loss says so in each of its lines, which differ by their numbers alone.
_NUMBER = lazy(r"\d+")
_SHAPES = 256


def _shape(text: str) -> str:
    """The line with each number as a 1."""
    return _NUMBER.sub("1", text)


@lru_cache(_SHAPES)
def _lost_losses(shape: str) -> tuple[str, ...]:
    hits = LOST_LOSS.finditer(shape)
    return tuple(hit[0].lower() for hit in hits if not VAL_LOSS.search(shape[: hit.start()][-12:]))


def says_handled(text: str) -> bool:
    """Whether a line speaks of a way on."""
    return _says_handled(_shape(text))


@lru_cache(_SHAPES)
def _says_handled(shape: str) -> bool:
    return bool(HANDLED.search(shape))


@lru_cache(_SHAPES)
def _is_finite(shape: str) -> bool:
    return any(not VAL_LOSS.search(shape[: hit.start()][-12:]) for hit in FINITE_LOSS.finditer(shape))
