"""Whether a line says that the program went on in spite of a trouble: again, without it, in another way. Pure."""

from __future__ import annotations

import re

from onbox.regex import lazy
from onbox.triage.epilogue import SKIPPED

# A clause of its own that tells what is done next, or how often it is done again.
_DOES = (
    r"(?:trying(?! to (?:exit|stop|quit|end|terminate|shut|close|leave|save))"
    r"|re-?(?:try|build|comput|creat|generat|download|fetch|load|read|connect|spawn|start|launch|queu|schedul"
    r"|submitt|sett|open|index|pars)\w{0,3}ing|halving|reducing|lowering|switching|substituting|imputing|clipping"
    r"|clamping|zeroing|dropping|discarding|excluding|omitting|defaulting|resuming|reverting|rolling back|going on"
    r"|carrying on|moving on|keeping|working around|passing over|leaving it out|treating|assuming|requeuing)"
)
_TRY = r"(?:try|attempt|go|retry|time)"
_CLAUSE = (
    rf"(?:[,;(\u2013\u2014]|\s--?|\w\.|[-=]>|\u2192)\s{{0,4}}(?:(?:so|now|we are|we're) )?{_DOES}\b"
    r"|(?:[,;(\u2013\u2014]|\s--?|\w\.)\s{0,4}(?:(?:so|now|we|it|i) )?(?:will|'ll) (?:be )?(?:try|use|take|skip"
    r"|retr\w+|continue|ignore|fall back|rebuild|recompute|repeat|drop|assume|default|wait|go on)"
)
_GOES_ON = (
    rf"\b(?:one more|another|next|second|third|new) {_TRY}\b(?! fail)"
    rf"|\b(?:worked|succeeded|arrived|connected|ok|got it|went through)\b.{{0,20}}\b(?:on|after|at|with|in)\b.{{0,24}}"
    r"\b(?:tr(?:y|ies)|attempts?|go|retr(?:y|ies))\b"
    r"|\b(?:up|ready|reachable|answered|there) after [1-9][\d.]{0,5} ?"
    r"(?:probes?|tries|attempts|retries|s|sec|seconds|ms)\b"
    r"|\b(?:[1-9]\d{0,3}|two|three|more) (?:tries|attempts|retries|goes) left\b"
    r"|\bstart\w* (?:it|them) (?:anew|again)\b|\b(?:new|other|next) (?:one|worker) (?:took|takes|has taken)\b"
    r"|\btook over\b"
    r"|\b(?:is|was|are|were) (?:given|handed|moved|reassigned|passed|rescheduled) (?:on )?to\b"
    r"|\btrying (?:the )?(?:\w+ )?(?:mirror|source|server|endpoint)\b"
    r"|, (?:the )?(?:next|other|another) (?:one|port|host|try|node)\b|, (?:fewer|less|smaller|half) .{1,24}\bnext\b"
    r"|\b(?:left out|put aside|set aside|passed over|not applied|kept for later|as before)\b"
    rf"|^\W{{0,4}}(?:so |now |then )?{_DOES}\b|\b(?:fell|falls) back\b|\b(?:goes|going|go) on (?:with|without|as)\b"
    r"|\b(?:using|took|taking|keep(?:s|ing)?|stay(?:s|ing)? with) (?:the |its |my |our )?(?:bundled|built-in|cached|old"
    r"|previous|last|local|slow|slower|plain|backup|other|next|current)\b|\b(?:no harm|(?:does not|doesn't) matter"
    r"|not needed|good enough|back to normal)\b|\bold .{1,20} stays\b"
    r"|\b(?:tak(?:e|es|ing)|keep(?:s|ing)?|us(?:e|es|ing)) (?:ours|theirs|the (?:older|newer|last|first) one)\b"
    r"|\b(?:made|created|built) (?:it|them|a new one)\b"
    r"|\bdefaults? (?:stays?|apply|applies|(?:are|is) \w{2,8})\b|\bwith (?:the )?defaults\b|\btolerated\b"
)
# A helper that has died is there again, or another one instead.
BEGUN_ANEW = lazy(
    r"\b(?:start\w*|bring\w*|brought) (?:it|them)\b.{0,12}\b(?:anew|again|back)\b|\btook (?:over|its place)\b"
    r"|\b(?:re-?(?:start|spawn|launch)(?:ed|ing)) (?:it|them|the (?:worker|helper|server|loader))\b"
    r"|\bre-?(?:started|submitted|scheduled|queued) on (?:an?|the)?\b"
    r"|\b(?:new|other|fresh) (?:one|worker|helper|process) (?:is|was|has|took|takes|start\w*)\b",
    re.IGNORECASE,
)
HANDLED = lazy(
    rf"{_CLAUSE}|{_GOES_ON}"
    # JAX takes another one, and Open MPI another transport.
    r"|\bunable to initialize backend '\w{2,12}':.{0,160}(?:not_found|module 'jaxlib|\.so: cannot open)"
    r"|\bmca_base_component_repository_open: unable to open mca_\w{2,40}:"
    r"|\bunable to find image .{1,200} locally\b"  # docker, which fetches it then
    r"|^\W{0,3}skip\b|^\W{0,3}retry(?:ing)? with\b"
    r"|\bretrying\b|\bwill (?:be )?retr(?:y|ied)|\bwill (?:\w{1,10} to )?(?:run|try|start) again"
    r"|\b(?!fail|crash|hang)[a-z]{2,12}ing (?:it |them |this )?again\b"
    r"|\b(?:start|begin|train)\w* (?:\w+ )?(?:from scratch|afresh)\b"
    r"|(?<!\d )(?<!stage )(?<!step )(?<!rest )\b(?:skipp(?:ed|ing)|ignor(?:ed|ing))\b(?!\s?[=:]?\s{0,24}0\b)"
    r"(?!=\d{1,6}\s{0,8}$)"
    r"|\bignore (?:above|this)|\bcontinu(?:ing|es)\b|(?<!not )(?<!without )fall(?:ing|s)?[- ]?back"
    r"|\brecovered\b|replaced (?:by|with)|using (?:the )?(?:default|stale|cached|previous|last|backup|local copy)\b"
    r"|\bserving (?:the )?(?:stale|cached|old|last)\b|\bis (?:unavailable|not (?:up|ready"
    r"|there)(?: yet)?)\W{1,4}(?:sleep|wait)"
    r"|\bwill be (?:sent|tried|done|redone|fetched|uploaded|repeated|delivered)\b.{0,24}"
    r"\b(?:next|later|again|tomorrow)\b"
    r"|\bfalse alarm\b"
    r"|, (?:\w{2,12} )?thrown (?:out|away)\b"
    r"|reconnect(?:ing|ed)|kept in|proceeding|non-?fatal|not fatal|harmless|ignorable"
    r"|backing off|\bwaiting for\b.{0,80}\b(?:refused|failed to connect|not (?:ready|up)|unavailable)\b"
    r"|\btreated as (?:ok|success\w*|a warning)|\b(?:missing|absent|not (?:found|available|installed)"
    r"|unavailable)\b.{0,24}\busing\b|"
    r"\bis (?:used(?! up)|assumed|substituted)\b|"
    r"(?<!\w, )\binstead\b(?!\.?\s*$| of '\S{1,80}' as the module name)"  # but not `got 0 instead.`
    r"|^(?!.*\b(?:got|received|found|but|was|were|consider|please|should)\b).*\binstead\.?\s*$|"
    r"\breload(?:ing|ed|s)\b|\b(?:avoided|prevented|averted)\b|\b(?:error|exception) caught\b|survived|\bhandled\b"
    r"|(?:again|retry|reconnect\w{0,24}|wait\w{0,24}|sleep\w{0,24}|attempt) in \d|attempt \d+ ?(?:of|/) ?\d"
    r"|retries remaining"
    r"|\bset to (?:zero|0|nan|none)\b|\bfailed, (?:waiting|sleeping)\b|, (?:waiting|sleeping) (?:for )?\d"
    r"|entering retry loop"
    r"|\bfailure \d{1,4} of max_failures=\d"
    r"|retry \d+|bypass(?:ed|ing)|login node|if you do not have"
    r"|\boptional(?:ly)?\b(?= (?:dependenc\w+|package|module|feature|plugin|import|extra)|\W*$|\))|deprecat"
    r"|we will use|disabling|unavailable, (?:using|fall)|not available, (?:using|fall)|will be used"
    r"|\bstart(?:ing|ed|s) (?:a |the )?(?:new|next|fresh|another|other) (?:one|worker|process|instance)\b"
    r"|\bis (?:being )?(?:retried|re-?submitted|re-?queued|re-?started|repeated)\b|\bwill (?:re-?)?start\b"
    r"|\bstart(?:s|ed)? again\b|\bup again\b|\bnot fit\b.{0,20}\bnow\b|\bbatch(?: size)?\b.{0,24}(?:->|=>|\bnow) \d"
    r"|\bas (?:(?:it|they) should|expected|intended|designed|planned)\b|\(simulated\)|\brequeued\b|fault injection"
    r"|on purpose|deliberate|[;,] (?:trial )?pruned\b"
    r"|[(\uff08](?:無視|忽略|ignorado|ignorada|ignorée?|ignoriert|ignorato|проигнорировано)"
    r"|\b(?:damaged|corrupt(?:ed)?|bad|broken) \w{3,12} (?:were |was )?(?:replaced|repaired|refetched)\b"
    r"|\bkept,? (?:and )?\d[\d,]{0,12} (?:\w{3,12} ){1,3}(?:dropped|removed|discarded|left out|filtered out)\b"
    r"|(?<!un)\bacceptable\b|\(expected(?! (?:an?|the|but|to|\d)\b)[^()]{0,20}\)"
    r"|\b(?P<code>\d{1,3}) \(expected (?P=code)\)"
    r"|\bmasked(?: out)?\W{0,3}$|dropping|resubmitt|\bsignall?ing (?:the )?\w{1,40} to stop"
    r"|(?:failed|error|problem)\W{1,3}trying (?:(?:a |the )?(?:smaller|next|other|another)|batch|with|port)\b",
    re.IGNORECASE,
)
# Of a death: somebody meant it, or could do without who died.
MEANT = lazy(
    r"(?i)\bas expected\b|\b(?:is|are|was|were) expected(?=\W*$|[:;.])|\(expected\b|\(optional\)|[,;(] ?expected for\b"
    r"|\b(?:is|are|was|were) expected to (?:fail|be refused)\b"
    r"|\bself-?test\b.{0,60}\bexpected\b"
    r"|\b(?:server|helper|side-?car|monitor|exporter|proxy|tunnel|tensorboard|watcher)\b.{0,20}\bstopped\b.{0,12}\b1(?:37|43)\b"
)
EXHAUSTED = lazy(
    r"\bno (?:point|sense|use) in |^\^C"
    r"|\binterrupted by (?:the )?user\b|g(?:iv(?:ing|en|es?)|ave) up|(?:not|never|without) retrying"
    r"|no more|exhausted|\bdid NOT match\b|0 (?:retries|attempts|tries)|failed after|abort|exiting"
    r"|stopping(?!.{0,40}\bas (?:planned|intended|designed)\b)|quitting|bailing|too many (?:\w+ )?(?:failures"
    r"|errors|retries|attempts|restarts|dead|crashes)"
    r"|cannot (?:continue|proceed|go on)|, (?:so |now )?stop\W{0,3}$"
    r"|\brefus(?:e|es|ed|ing) to\b|unrecoverable"
    r"|(?:that was|was|is) the last (?:try|attempt|one)|no (?:\w+ )?(?:tries|attempts|retries) left"
    r"|still (?:fail\w*|not)"
    r"|out of (?:retries|attempts)|max(?:imum)? (?:retries|attempts)|attempting to recover"
    r"|(?:attempt|try|retry) (\d{1,20}) ?(?:of|/) ?\1\b|\bRetry\(total=0\b"
    rf"|{SKIPPED}"
    r"|\bno \S{1,60}, \w{1,20} skipped\b|\bis not finite\b"
    r"|\bexit(?:ed|s)? (?:with )?(?:code |status |rc=?)?[1-9]\d{0,2}\W{1,3}skipp(?:ing|ed) (?!(?:it|this|that|the)\b)",
    re.IGNORECASE,
)
# An exception named in one line, without a traceback, and set aside in the same breath.
SET_ASIDE = lazy(
    rf"{_CLAUSE}"
    r"|[;,(:.\u2013\u2014-]\s{0,8}(?:\w{1,40} ){0,2}(?<!stage )(?<!step )(?<!rest )(?<!\b0 )"
    r"(?:skipp(?:ed|ing)|ignor(?:ed|ing)|retrying|continuing"
    r"|dropp(?:ed|ing)|re(?:scheduled|queued|submitted))\b.{0,40}$|\((?:allowed|tolerated):? ?\d[^()]{0,40}\)\s{0,4}$"
    r"|\(?\bas (?:(?:it|they) should|expected|intended|designed|planned)\b.{0,20}$|\(expected\)\s{0,4}$"
    r"|[;,(:]\s{0,8}(?:score|reward|grade|scored|rewarded|graded|counted)\b.{0,12}\d\S{0,8}$"
    r"|(?:->|=>|\u2192)\s{0,8}(?:caught|handled|retry\w{0,4}|halving|reducing|lowering|trying|using|emptying"
    r"|skipp\w{1,4}|excluded|left out|not counted"
    r"|re-?(?:start|queu|submit|connect|sett?)\w{0,4})\b.{0,80}$"
    r"|[;,(\u2013\u2014-]\s{0,8}(?:\w{1,40} )?(?:fall(?:ing|s)?[- ]?back|using (?:the|a|an|defaults?|plain|slow)"
    r"|optional)\b.{0,60}$",
    re.IGNORECASE,
)


def is_handled(text: str) -> bool:
    """Whether the line says that the program went on in spite of it."""
    return bool(HANDLED.search(text)) and not EXHAUSTED.search(text)


def is_set_aside(text: str) -> bool:
    """Whether the line says that the program went on, in a sentence or in the remark behind the trouble."""
    return is_handled(text) or bool(SET_ASIDE.search(text) and not EXHAUSTED.search(text))
