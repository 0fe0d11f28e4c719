"""Whether an error tells its reader what to choose: then a setting is wrong, whatever the exception is called. Pure.

Libraries refuse a setting with a bare ValueError or RuntimeError: they forbid it, demand another one, name what they
support, or ask to set it. The same words about a tensor, a type or a call speak of code.
"""

from __future__ import annotations

import re

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.rules.rows import CONFIG, VAGUE, RuleRow, compiled


class Demand(NamedTuple):
    """kind: what the sentence does. words: how it is said; a regular expression of whole words."""

    kind: str
    words: str


_CHOOSE = (
    r"specif\w+|provid\w+|set|pass|use|define|choose|select|combine|enable|disable|mix|configure|request|customi[sz]e"
    r"|train|change|override|increase|reduce|decrease|lower|raise|restart|rerun|run|add|remove|update|upgrade|switch"
    r"|install"
)
DEMANDS: tuple[Demand, ...] = (
    Demand(
        "forbids",
        rf"(?:cannot|can not|may not|must not|do not|should not|not allowed to|not possible to|unable to) (?:both )?"
        rf"(?:be )?(?:{_CHOOSE})"
        r"|(?:is|are) not (?:allowed|permitted|possible|valid|applicable|compatible)|mutually exclusive"
        r"|only one .{1,60} can be|incompatible|(?:cannot|can not) be (?:greater|less|larger|smaller|more|fewer|longer)"
        r"|conflict\w*|(?:does|do) not make sense|at the same time|simultaneously|both .{1,60}(?:are|were) (?:set"
        r"|given)",
    ),
    Demand(
        "demands",
        r"(?:must|should|has to|have to|needs? to) (?:also |both |only |not |either |always )*(?:be|equal|divide"
        r"|match|have"
        rf"|contain|end|start|sum|fit|point|refer|exist|exceed|{_CHOOSE})"
        r"|(?:is|are) (?:required|mandatory|needed)|requires?|expect(?:s|ed) (?:exactly|at least|one of|either)"
        r"|at least one of|exactly one|divisible|dividable|multiple of|(?:greater|less|larger|smaller|lower"
        r"|higher) than",
    ),
    Demand(
        "supports",
        r"(?:is|are|was) (?:not |only |currently |yet |un)*supported|(?:does|do) not (?:currently |yet )?(?:support"
        r"|work"
        r"|exist)|not (?:currently |yet )?(?:supported|available|implemented) (?:for|with|on|in|when|by)"
        r"|only (?:available|possible|valid|works?) (?:on|for|with|in|when)|only supports?"
        r"|(?:does|do) not (?:take|accept)|takes no"
        r"|(?:supported|available|valid|allowed|possible|known) (?:\w+ )?(?:\w+ are|options|values|choices|names|modes"
        r"|formats|types)|un(?:supported|known|recogni[sz]ed|expected)|invalid|illegal|not (?:a )?(?:valid"
        r"|recogni[sz]ed)"
        r"|one of",
    ),
    Demand(
        "asks",
        r"please|to (?:list|see|show) (?:out )?(?:all )?(?:the )?available"
        rf"|make sure|did you (?:forget|mean)|(?:try|consider) (?:{_CHOOSE}|setting|using|passing|reducing"
        r"|increasing|lowering|running)|you (?:\w{2,12}ed|need|have|must|should|may|can|are|passed|specified"
        r"|provided|requested"
        rf"|asked)\b|(?:{_CHOOSE}) .{{1,60}} instead|instead of",
    ),
    Demand(
        "lacks",
        r"(?:was|is|are|were|been) not (?:specified|provided|given|set|defined|configured|found|selected|listed"
        r"|enabled)"
        r"|not (?:specified|provided|given|set|defined|configured|found in|listed)"
        r"|no valid|already exists|not in the \w{0,8}list|no (?:\w+ ){1,4}(?:was |were |is |are "
        r"|has been )?(?:specified|provided|given|set|defined|configured|found"
        r"|selected|registered)|missing|(?:already|never) (?:been )?(?:defined|registered|set|specified)"
        r"|(?:could not|cannot|failed to|unable to) (?:find|parse|interpret|resolve|determine|infer|understand|match)"
        r"|is not a (?:directory|file|regular file)|too many (?:\w+ )?(?:options|arguments)|path too long"
        r"|unterminated|unbalanced|not an? (?:\w+ )?(?:valid )?(?:version|number|name|path|url|key)",
    ),
)
# What speaks of code: a slip in it, or how a library is called.
_OF_CODE = (
    r"tensors?|shapes?|dtypes?|ndim|dims?|dimensions?|axis|axes|arrays?|ndarrays?|matri(?:x|ces)|broadcast\w*|callable"
    r"|functions?|methods?|(?<!number of )(?<!each )(?<!per )class(?:es)?|instances?|subclass\w*|objects?|attributes?"
    r"|forward|backward|gradients?|grad"
    r"|autograd|graph|jit|trac(?:e|ed|er|ing)|call(?:ed|ing|s)?|enum(?:eration)?|entry|iterat\w+|generators?"
    r"|coroutines?|event loop"
    r"|pickl\w+|contiguous|scalars?|integers?|floats?|str|bytes|dict|list|tuple|none|ind(?:ex|ices|exes)|out of range"
    r"|in place|strides?|operands?|pointers?|handles?|internal|assert\w*|bug|report|file an issue|open an issue"
    r"|not implemented|initiali[sz]ed|closed|already (?:running|started|finished)|lengths?"
    r"|same (?:size|length|number|rank)"
    r"|rank[- ]\d|context managers?|returns? (?:an?|the)|your function|symbols?|vectors?|primitive|<class|\w+\(\)"
    r"|\w+\.\w+\([^()]{0,20}\)"
)
# What a program says, as the last thing of all, to whom started it: in any other place it may be advice.
_REFUSES = lazy(
    r"(?<!as they )(?<!as it )\b(?:must|has to|have to) (?:\w+ )?(?:be|not|divide|match|have|equal|contain|exist"
    r"|sum|start|end|fit|lie)\b"
    r"|\bneeds? (?:an?|its|at least|exactly) (?:value|argument|operand|file ?name|path|name|option|number)\b"
    r"|\brequires (?:an? |at least |exactly |one |--)|\bexpects? (?:exactly|at least)\b|\bmutually exclusive\b"
    r"|\b(?:is|are) (?:newer|older|later|more recent) than\b.{0,60}"
    r"\b(?:understand|support|know|read|handle|accept|expect)"
    r"|\band --[\w-]+ (?:is |was )?(?:given|set|on)\b"
    r"|\b(?:is|are) not (?:allowed|permitted|supported) (?:with|without|here|when|for|in)\b"
    r"|\b(?:cannot|can not|may not) be (?:used|combined|given|set) (?:with|together|without)\b",
    re.IGNORECASE,
)
MEANT = RuleRow(
    "asks-for-setting",
    "config_error",
    CONFIG - 8,
    "",
    "(?!)",
    "an exception that tells its reader what to choose, set or leave out",
    "",
)
# The same of a line of a tool, which counts as little as the line does without it.
MEANT_IN_LINE = MEANT._replace(id="line-asks-for-setting", explains=VAGUE - 36)
# Of things that a user of a program chooses, not one who writes code: they outweigh a word of code beside them.
_CHOSEN = lazy(
    r"(?<![\w-])--[a-z][\w-]+|\.ya?ml\b|\bconfig\w*|\bsettings?\b|\bflags?\b|\boptions?\b|\bbatch.?size"
    r"|\benv(?:ironment)?"
    r"[ _-]var|\b(?-i:[A-Z][A-Z0-9]+(?:_[A-Z0-9]+){1,6})\b|\bcommand.?line"
    r"|\b(?:must|should) be (?:one of|either|in [\[{(]|['\"\[{(])|\b(?:choose|select) (?:from|one of)"
    r"|\b(?:supported|available|valid|allowed) (?:values|options|choices)|\bmutually exclusive\b",
    re.IGNORECASE,
)


# A call or a class written out, as only who writes code reads it.
_WRITTEN_CODE = lazy(r"<class '|\w\(\)|\bawait\b|\battributes?\b|\binstances?\b")


def shows_code(sentence: str) -> bool:
    """Whether a sentence shows code: a call, a class, an attribute."""
    return bool(_WRITTEN_CODE.search(sentence))


def speaks_of_code(sentence: str) -> bool:
    """Whether a sentence names what only who writes code deals with, and nothing that a user of a program chooses."""
    return not _CHOSEN.search(sentence) and bool(compiled(rf"(?<!\w)(?:{_OF_CODE})(?!\w)").search(sentence))


def refuses(sentence: str) -> bool:
    """Whether a sentence says what was to be chosen otherwise, so that its program cannot begin."""
    return bool(_REFUSES.search(sentence))


_OF_A_ROW = lazy(r"\b(?:row|record|sample|example|entry) #?\d{1,12}\b", re.IGNORECASE)  # of data
# What a test framework says of two values, before the words of who wrote the check.
_OF_A_CHECK = lazy(r"^\S.{0,80} (?:!=|not found in|is not (?:true|false|none)|not less than) .{1,80} : ", re.IGNORECASE)


def asks_for_setting(sentence: str) -> bool:
    """Whether a sentence, with its contractions resolved, demands another setting."""
    if _OF_A_ROW.search(sentence) or _OF_A_CHECK.search(sentence):
        return False
    if not any(compiled(rf"(?<!\w)(?:{demand.words})(?!\w)").search(sentence) for demand in DEMANDS):
        return False
    return not speaks_of_code(sentence)
