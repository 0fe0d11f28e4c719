"""Every pattern that the packages ship, and texts made to take it as long as they can. For the tests and a benchmark.

The patterns are found, not listed: those that modules hold, in tables too, and those written into calls of `re`. So a
new row is tried like all others.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
import time
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from onbox.system.time_limit import TooLong, time_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

# The parser of `re` itself, under its name of Python 3.10 and of later ones.
sre: Any = importlib.import_module("re._constants" if sys.version_info >= (3, 11) else "sre_constants")
parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

PACKAGES = ("onbox", "patrol", "sentinels", "handbook")
SEARCHES = {"search", "finditer", "findall", "sub", "subn", "split"}
METHODS = SEARCHES | {"match", "fullmatch"}
FIELDS = ("pattern", "regex", "hint", "folder")  # of rows that hold a pattern as a string
GLOBS = ("onbox.config.trust_keys",)  # modules in which `pattern` is none of `re`
LETTERS = "a0 -=_./:,\t\n[(\"'#*A%@|\\+é"  # what stands for a class of characters: the first few that are in it
STOPS = ("", "\0")  # behind the pumped part: what makes most patterns fail there
SCREEN_LENGTH, LENGTH = 200, 1600  # of the texts: to choose the worst ones, and to measure them
CHOSEN = 3
GIVE_UP_SECONDS = 0.5  # a hundred times what the slowest linear one takes
SCREEN_SECONDS = 10.0  # for all short texts of a pattern; all linear ones together take less


class Shipped(NamedTuple):
    """A pattern and how it is asked. place: module and name or line."""

    place: str
    pattern: str
    flags: int
    anchored: bool  # it is only ever asked at one place of a text

    def asker(self) -> Callable[[str], object]:
        compiled = re.compile(self.pattern, self.flags)
        return compiled.match if self.anchored else compiled.search


class Pumped(NamedTuple):
    """A text that takes a pattern long. seconds: the CPU time at the full length; growth: against half of it."""

    lead: str
    unit: str
    stop: str
    seconds: float
    growth: float

    def text(self, length: int) -> str:
        return _text(self.lead, self.unit, self.stop, length)


# -- the patterns


@cache
def shipped() -> tuple[Shipped, ...]:
    found: dict[tuple[str, int, bool], Shipped] = {}
    for module in modules():
        for one in (*_held(module), *_inline(module)):
            found.setdefault((one.pattern, one.flags, one.anchored), one)
    return tuple(found.values())


@cache
def modules() -> tuple[ModuleType, ...]:
    names = [
        info.name
        for package in PACKAGES
        for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
        if not info.name.endswith("__main__")
    ]
    return tuple(importlib.import_module(name) for name in (*PACKAGES, *names))


def _held(module: ModuleType) -> Iterator[Shipped]:
    """What stands in the module's own variables, and in the tables there."""
    for name, value in list(vars(module).items()):
        if not name.startswith("__") and module.__name__ not in GLOBS:
            for pattern, flags in _patterns_in(value, set()):
                yield Shipped(f"{module.__name__}.{name}", pattern, flags, id(value) in _asked_at_a_place())


def _patterns_in(value: Any, seen: set[int]) -> Iterator[tuple[str, int]]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if hasattr(value, "_asked") or isinstance(value, re.Pattern):  # of `lazy`, of `re.compile`
        pattern = value.pattern
        flags = value._asked if hasattr(value, "_asked") else value.flags & ~re.UNICODE  # not compiled yet
        yield (pattern if isinstance(pattern, str) else pattern.decode("latin-1")), flags
    elif isinstance(value, dict):
        yield from chain.from_iterable(_patterns_in(one, seen) for one in value.values())
    elif isinstance(value, tuple):
        fields = getattr(value, "_fields", ())
        yield from ((getattr(value, name), re.IGNORECASE) for name in FIELDS if _is_text(value, name, fields))
        yield from chain.from_iterable(_patterns_in(one, seen) for one in value)


def _is_text(row: tuple[Any, ...], name: str, fields: tuple[str, ...]) -> bool:
    return name in fields and isinstance(getattr(row, name), str)


def _inline(module: ModuleType) -> Iterator[Shipped]:
    """The first argument of each call of `re`, where it is known without running the function."""
    for call in _calls_of_re(module):
        pattern = _known(module, call)
        if pattern is not None:
            text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
            flags = re.DOTALL | re.MULTILINE if "MULTILINE" in ast.unparse(call) else 0
            yield Shipped(f"{module.__name__}:{call.lineno}", text, flags, _method(call) not in SEARCHES)


def unknown() -> set[str]:
    """Modules that ask `re` for a pattern which only the running function knows, and which is not a field of a row."""
    return {
        module.__name__
        for module in modules()
        for call in _calls_of_re(module)
        if _known(module, call) is None and getattr(call.args[0], "attr", "") not in FIELDS
    }


def _calls_of_re(module: ModuleType) -> Iterator[ast.Call]:
    for call in _calls(module):
        if getattr(getattr(call.func, "value", None), "id", "") == "re" and _method(call) in (*METHODS, "compile"):
            yield call


def _method(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", ""))


def _known(module: ModuleType, call: ast.Call) -> str | bytes | None:
    try:
        found = eval(compile(ast.Expression(call.args[0]), "", "eval"), vars(module))
    except NameError:
        return None
    return found if isinstance(found, str | bytes) else None


@cache
def _asked_at_a_place() -> frozenset[int]:
    """The patterns that are asked by `match` or `fullmatch` only, wherever they are used, by their `id`."""
    asked: dict[int, set[str]] = {}
    for module in modules():
        for call in _calls(module):
            if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS:
                holder = call.func.value.value if isinstance(call.func.value, ast.Subscript) else call.func.value
                held = getattr(holder, "id", "")
                asked.setdefault(id(vars(module).get(held)), set()).add(call.func.attr)
    return frozenset(known for known, methods in asked.items() if not methods & SEARCHES)


@cache
def _calls(module: ModuleType) -> tuple[ast.Call, ...]:
    return tuple(node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Call))


# -- the texts


def pumped(one: Shipped) -> Pumped | None:
    """The worst text that was found for the pattern; None for one that repeats nothing."""
    ask, text = one.asker(), ("", "", "")
    timed = []
    try:
        with time_limit(SCREEN_SECONDS):
            for text in texts(one):
                timed.append((_seconds(ask, _text(*text, SCREEN_LENGTH)), text))
    except TooLong:
        return Pumped(*text, GIVE_UP_SECONDS, float("inf"))
    timed.sort(reverse=True)
    found = [grown(ask, text) for _, text in timed[:CHOSEN]]
    return max(found, key=lambda each: each.seconds, default=None)


def grown(
    ask: Callable[[str], object], text: tuple[str, str, str], tries: int = 3, *, length: int = LENGTH, shorter: int = 2
) -> Pumped:
    """How the time for a text grows with its length: the best of some tries, as other programs disturb the clock.
    shorter: how many times as long as the short text the long one is.
    """
    short, long = _text(*text, length // shorter), _text(*text, length)
    both = [
        (_bounded_seconds(ask, short), _bounded_seconds(ask, long)) for _ in range(tries)
    ]  # in turns: a busy minute slows both
    half, full = (min(took) for took in zip(*both, strict=True))
    return Pumped(*text, full, full / max(half, 1e-7))


def _text(lead: str, unit: str, stop: str, length: int) -> str:
    return lead + unit * (length // len(unit)) + stop


def _seconds(ask: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    ask(text)
    return time.thread_time() - began


def _bounded_seconds(ask: Callable[[str], object], text: str) -> float:
    try:
        with time_limit(GIVE_UP_SECONDS):
            return _seconds(ask, text)
    except TooLong:
        return GIVE_UP_SECONDS


def texts(one: Shipped) -> Iterator[tuple[str, str, str]]:
    """(lead, unit, stop): for each repetition what leads to it and what it repeats, alone and together."""
    tree = parser.parse(one.pattern, one.flags)
    pairs = list(dict.fromkeys(_repeated(list(tree), "")))
    tokens = list(dict.fromkeys(unit for _, unit in pairs))[:24]
    leads = list(dict.fromkeys(lead for lead, _ in pairs))[:24]
    plain = [("", unit) for unit in tokens]
    behind = [(lead, lead + unit) for lead, unit in pairs if lead]
    two = [a + b for a in tokens[:6] for b in tokens[:6] if a != b]
    mixed = [(lead, unit) for lead in ("", *leads[:6]) for unit in two]
    for lead, unit in dict.fromkeys((*pairs, *plain, *behind, *mixed)):
        yield from ((lead, unit, stop) for stop in STOPS)


def samples(pattern: str) -> list[str]:
    """Texts that go each way through a pattern; some of them match it."""
    return list(_samples_of(list(parser.parse(pattern, re.IGNORECASE))))


def _repeated(nodes: list[Any], lead: str) -> Iterator[tuple[str, str]]:
    """(what leads there, one unit) of each repetition below these nodes."""
    for at, (kind, argument) in enumerate(nodes):
        before = lead + "".join(next(_samples(node), "") for node in nodes[:at])
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            _, most, body = argument
            if most > 3:
                yield from ((before, unit) for unit in islice(_samples_of(list(body)), 6) if unit)
            yield from _repeated(list(body), before)
        elif kind is sre.SUBPATTERN:
            yield from _repeated(list(argument[-1]), before)
        elif kind is sre.BRANCH:
            for branch in argument[1]:
                yield from _repeated(list(branch), before)
        elif kind in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _repeated(list(argument[1]), before)


def _samples_of(nodes: list[Any]) -> Iterator[str]:
    """Texts that match the nodes, more or less: the first choice everywhere, then another one at one place."""
    plain = [next(_samples(node), "") for node in nodes]
    yield "".join(plain)
    for at, node in enumerate(nodes):
        for other in islice(_samples(node), 1, 8):
            yield "".join([*plain[:at], other, *plain[at + 1 :]])


def _samples(node: Any) -> Iterator[str]:
    kind, argument = node
    if kind is sre.LITERAL:
        yield chr(argument)
    elif kind is sre.NOT_LITERAL:
        yield from (letter for letter in LETTERS if ord(letter) != argument)
    elif kind is sre.ANY:
        yield from LETTERS.replace("\n", "")
    elif kind is sre.IN:
        yield from _members(argument)
    elif kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        least, _, body = argument
        yield from (sample * max(least, 1) for sample in _samples_of(list(body)))
    elif kind is sre.SUBPATTERN:
        yield from _samples_of(list(argument[-1]))
    elif kind is sre.BRANCH:
        yield from chain.from_iterable(islice(_samples_of(list(branch)), 1) for branch in argument[1])
    elif kind is sre.ASSERT and argument[0] < 0:
        yield from _samples_of(list(argument[1]))


def _members(items: list[Any]) -> Iterator[str]:
    named = [chr(item[1]) for item in items if item[0] is sre.LITERAL]
    negated = items[0][0] is sre.NEGATE
    known = (letter for letter in LETTERS if any(_holds(item, letter) for item in items) is not negated)
    yield from dict.fromkeys((*known, *([] if negated else named), *("" if negated else _starts(items))))


def _starts(items: list[Any]) -> Iterator[str]:
    return (chr(item[1][0]) for item in items if item[0] is sre.RANGE)


def _holds(item: Any, letter: str) -> bool:
    kind, argument = item
    if kind is sre.LITERAL:
        return bool(ord(letter) == argument)
    if kind is sre.RANGE:
        return bool(argument[0] <= ord(letter) <= argument[1])
    if kind is sre.CATEGORY:
        return re.fullmatch(_CATEGORIES[argument], letter) is not None
    return False


_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S", sre.CATEGORY_WORD: r"\w", sre.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip
