"""Words of trouble, by how loud they are: a table for all who ask whether a line complains. Pure.

Each step holds the one before it. The loudest need nothing else; a hint means something only beside an error.
"""

from __future__ import annotations

import re

from onbox.regex import lazy

# What is called after an error, and is none.
_FIGURES = r"(?:estimat\w+|rates?|bars?|norms?|terms?|thresholds?|toleran\w+|margins?|budgets?)\b"
_LOUD = rf"errors?(?! {_FIGURES})|fatal|exception|failed|abort\w*"
_TROUBLE = (
    rf"{_LOUD}|fail(?:ure(?! {_FIGURES})|s)?|mismatch\w*|violat\w+|inconsisten\w+|corrupt\w*|panic\w*|diverged"
    r"|cannot|could not|unable to|invalid|illegal|unsupported|not found|no such|denied|refused|unexpected"
    r"|unrecogni[sz]ed|assert\w*"
)
_HINT = (
    rf"{_TROUBLE}|fail\w*|can't|couldn't|unable|unknown|missing|exceed\w*|no|bad|expected|undefined|undeclared|killed"
    r"|syntax|incompatible|\w*converge\w*|diverg\w*|nan|not|out of|too|truncated|caused by|does(?:n't| not)"
    r"|did(?:n't| not)|duplicate|overflow|lost|stopp\w*|unresponsive|insufficient|sick"
)
# Written so that nobody overlooks it.
CRIES = lazy(
    r"\b(?:ERR|ERROR|FATAL|ABORT(?:ED|ING)?|FAILED|STOP(?:PED|PING)?|NOT converged)\b(?! 0\b| \w{1,20}\s{1,4}\d)"
    r"(?<!STOP(?=:? (?:normal|end|ok|done|finished|success)))|[Ff]atal error"
    rf"|\bError (?!{_FIGURES})[A-Za-z]"
    r"|(?<!\d )\b(?:[Ff]ailed|refuse to continue|REFUSE TO CONTINUE)\b(?!\s{0,8}[:=]?\s{0,4}\d)"
    r"|[Ee]rror\s?(?:\(|:(?!\s?[\d.]))"
    r"|^npm (?:error|ERR!)"
)
LOUD = lazy(rf"\b(?:{_LOUD})\b|^e:|err!", re.IGNORECASE)
TROUBLE = lazy(
    rf"(?<!\d )\b(?:{_TROUBLE})\b(?!(?:\s\w{{1,20}}s)?\"?\s{{0,8}}[:=]?\s{{0,4}}\d)", re.IGNORECASE
)  # not a count of it
HINT = lazy(rf"\b(?:{_HINT})\b", re.IGNORECASE)
# Complaints of the small tools that scripts call.
SMALL_TOOL = lazy(
    r"(?:/usr)?(?:/bin/)?(?:ls|cp|mv|rm|mkdir|rmdir|cat|grep|sed|ln|chmod|chown|stat|du|df|find|which|head|tail|wc|sort"
    r"|diff): \S"
)
# Whose complaint no script minds: it looks for something, or clears what may not be there.
TINY_TOOL = lazy(
    r"(?:/usr)?(?:/bin/)?(?:ls|rm|mkdir|rmdir|grep|which|find): \S"
    r"|error: (?:No such remote|branch '[^']{1,200}' not found)"  # of git
)
# That a program ends, or gives up.
STOPS = lazy(
    r"\b(?:abort(?:ing|ed)|(?-i:ABORT)|giving up"
    r"|g[ai]ve[ns]? up|(?:can ?not|can't|unable to) (?:continue|go on|proceed)"
    r"|unrecoverable|fatal|bail(?:ing)? out|refus(?:e|ing|es|ed) to|exiting|leaving|quitting|terminat(?:ing|ed)"
    r"|shutting down|stopp(?:ing|ed)|halt(?:ing|ed)|died|dead(?![- ]letter)"
    r"|exit(?:ed)? (?:with )?(?:code|status) [1-9]|not starting"
    r"|killing the|will not start|nothing (?:to do|more)|end(?:ing|ed) (?:the run|early))\b",
    re.IGNORECASE,
)
