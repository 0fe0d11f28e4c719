"""How many things are done, and how many are left, in words: `Done 196 tasks`, `60 finished, 36 to go`. Pure."""

from __future__ import annotations

from onbox.logs.line.numbers import COUNT, parse_count
from onbox.logs.line.sights import CounterSight
from onbox.logs.line.words import NOT_PROGRESS, UNIT_WORD, UNITS
from onbox.logs.model.lines import message
from onbox.regex import lazy

_MANY = r"[a-z]{2,14}s"
# Any verb of doing, but for what is done to none of the things that a run works through.
_NOT_DONE = (
    "skipp|dropp|remov|reject|fail|retri|ignor|miss|filter|discard|evict|allocat|fre|expect|requir|need|limit|us|elaps"
    "|remain|delay|wait|kill|queu|schedul|buffer|reach|tim|creat|open|clos|connect|plann|chang|request|estimat|load|start"
    "|restart|launch|spawn|detect|match|merg|sav|cach|resum|restor|best|sort|found|exceed|improv|report|total|submitt"
    "|select|group|shar|pinn|patch|modifi|add|delet|keep|split|generat(?=ed in)"
)
_ANY_DOING = rf"(?!(?:{_NOT_DONE})ed(?![a-z]))[a-z]{{2,12}}ed"
_OFTEN_DONE = lazy(
    r"(?i)(?<![a-z])(?:done|read|processed|completed|finished|solved|handled|generated|fit|fitted|trained|built|simulated"
    r"|indexed|parsed|scanned|crawled|fetched|ingested|imported|exported|inserted|translated|embedded|rendered|aligned"
    r"|annotated|extracted|visited|analy[sz]ed|labelled|labeled|classified|evaluated|scored|converted|written|wrote"
    r"|seen|consumed|copied)(?![a-z])"
)
_DONE_COUNT = lazy(
    rf"(?i)(?<![a-z])(?:done|read|fit|built|written|wrote|seen|{_ANY_DOING})[:=]?\s{{1,8}}({COUNT})\s{{1,8}}"
    rf"(?:(?:input|new|more|unique|raw) )?({UNIT_WORD}|{_MANY})(?![a-z])(?!\s{{0,8}}(?:/|of\s))"
)
_COUNT_BEFORE = lazy(r"(?<![\w.,:/-])(\d{1,12}) {1,8}$")
_TO_GO = lazy(  # `60 frames finished, 36 to go`
    rf"(?i)(?<![\w.,/-])({COUNT}) (?:[a-z]{{2,14}} )?(?:done|processed|completed?|finished|handled|written)"
    rf"[,;|]? (?:and )?({COUNT}) (?:[a-z]{{2,14}} )?(?:to go|left|remaining|pending|to do)(?![a-z])"
)
_FIELDS_LEFT = lazy(  # `done=97 failed=3 queued=4100`
    r"(?i)(?<![\w.])(?:done|ok|finished|completed|processed)=(\d{1,12})(?:[,;|]?\s{1,4}(?:fail(?:ed|ures?)|errors?|skipped)=(\d{1,12}))?"
    r"[,;|]?\s{1,4}(?:queued?|left|remaining|pending|todo|waiting)=(\d{1,12})(?![\w.])"
)
_TOLD_AS_TOTAL = lazy(
    r"(?i)(?<![a-z])(epochs|steps|iterations|updates) (?:trained|done|completed|run): (\d{1,12})(?![\w./%])"
)
_THINGS_DONE = (
    rf"(?i)(?<![\w.,/:-])({COUNT})\s{{1,8}}({UNIT_WORD}|{_MANY})"
    rf"\s{{1,8}}(?:done|written|seen|read|{_ANY_DOING})(?![a-z])"
)
_COUNT_DONE = lazy(_THINGS_DONE)
_SO_FAR = lazy(_THINGS_DONE + r"\W{1,3}(?:so far|in total|total|altogether)(?![a-z])")
BARE_DONE = "done things"  # key of a count that tells of nothing what it counts
_BARE_DONE = lazy(
    rf"(?i)^\W{{0,8}}({COUNT}) (?:are |were )?(?:done|processed|completed?|finished|handled)(?=\s*$|[,;|(]| \()"
)
_NO_WORK = frozenset("s secs seconds mins minutes hours days times bytes ms errors warnings failures".split())
_PIECE_DONE = lazy(r"(?i)^\W{0,4}[a-z]{3,14} #?\d{1,9} ?(?:/|of) ?\d{1,9} (?:is )?(?:done|finished|complete[d]?)\b")
_PIECE = lazy(
    r"(?<![\w.,/:-])\d{1,9} ?(?:/|of) ?\d{1,9}(?![\w/%-])|(?<![\w.])\d{1,12}-of-\d{1,12}(?![\w.-])"
    r"|(?<![\w.,/:-])\d[\d,]{0,14} ?(?:-|\u2013|\.\.) ?\d[\d,]{0,14} (?:of|/) \d"
)


def fields_left(text: str) -> list[CounterSight]:
    """`completed=23 remaining=17`: what is done and what is left, whatever else the line counts."""
    fields = _FIELDS_LEFT.search(text) if "=" in text else None
    if fields is None:
        return []
    all_told = sum(int(number) for number in fields.groups() if number)
    return [CounterSight("done, left", "item", "train", int(fields[1]), all_told, False, "done-count")]


def done_count(text: str) -> list[CounterSight]:
    """`Done 196 tasks`: how many, without a maximum; unless it is told how many are left."""
    left = _TO_GO.search(text)
    if left:
        done, more = (parse_count(left[at]) for at in (1, 2))
        most = None if done.rounded or more.rounded else int(done.value + more.value)
        return [CounterSight("done, left", "item", "train", done.value, most, done.rounded, "done-count")]
    bare = _BARE_DONE.match(message(text).text)
    if bare:
        count = parse_count(bare[1])
        return [CounterSight(BARE_DONE, "item", "done", count.value, None, count.rounded, "done-count")]
    total = _TOLD_AS_TOTAL.search(text)
    if total:
        unit = UNITS[total[1].lower()]
        return [CounterSight(f"done {unit}", unit, "done", int(total[2]), None, False, "done-count")]
    verb_first = None if _SO_FAR.search(text) else _DONE_COUNT.search(text)
    found = _SO_FAR.search(text) or verb_first or _COUNT_DONE.search(text)
    if not found:
        return []
    before = _COUNT_BEFORE.search(text, 0, found.start()) if verb_first else None
    if before:  # `2000  finished       1778  clusters`: what they came to
        return [CounterSight("done item", "item", "done", int(before[1]), None, False, "done-count")]
    count, word = parse_count(found[1]), found[2].lower()
    if NOT_PROGRESS.search(word) or word in _NO_WORK:
        return []
    unit = UNITS.get(word, "item")
    rule = "done-count" if _OFTEN_DONE.search(found[0]) else "done-any"
    return [CounterSight(f"done {UNITS.get(word, word)}", unit, "done", count.value, None, count.rounded, rule)]


def is_of_a_piece(text: str) -> bool:
    """Whether a count of things is that of a piece which the line tells first: `day 3/60 appended 900 ticks`."""
    if _PIECE_DONE.search(text):
        return True
    piece = _PIECE.search(text)
    return piece is not None and not done_count(text[: piece.start()])
