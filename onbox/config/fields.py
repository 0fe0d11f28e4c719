"""Reading the tables of a configuration so that *every* error is found: what was seen, where, and what is wanted.

A parser takes one value and returns what it means, or raises `Unwanted`. A `Table` calls it, and turns `Unwanted` into
a `ConfigError` with the path of the key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, TypeVar

from onbox.config.keys import Keys
from onbox.did_you_mean import did_you_mean, meant
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onbox.config.keys import Key, ListKey

T = TypeVar("T")
D = TypeVar("D")

SHOWN_LIMIT = 60
HIDDEN = "***"  # stands for a value that may be a secret; what masks secrets on the way out leaves it as it is
SUGGESTIONS = 100  # of a file with more errors nobody reads them all, and to find each takes time
INTEGER_BITS = 64  # of TOML; Python's parser takes longer ones, and refuses to print the longest


class Unwanted(Exception):
    """A value is not what its key wants.

    wanted: completes the sentence "<value> is not …". seen: stands for the value where it must not be shown (it may be
    a secret); None means that the value itself is shown.
    """

    def __init__(self, wanted: str, *, seen: str | None = None) -> None:
        self.wanted = wanted
        self.seen = seen
        super().__init__(wanted)


class ConfigError(NamedTuple):
    """One error of a configuration.

    path: the key, such as `stages.train.timeout`. seen: its value, bounded and without secrets; None means that the
    key is missing. wanted: what should be there, as one phrase.
    """

    path: str
    seen: str | None
    wanted: str

    def __str__(self) -> str:
        if self.seen is None:
            return f"{self.path}: is missing; wanted: {self.wanted}"
        return f"{self.path}: {self.seen} is not {self.wanted}"


class ConfigErrors(ValueError):
    """All errors of a configuration, in the order in which they were found."""

    def __init__(self, errors: list[ConfigError]) -> None:
        self.errors = errors
        super().__init__("\n".join(map(str, errors)))


def _other_table(key: str, known: Collection[str]) -> str:
    """Where a key belongs that exactly one other table has and that is near none of this one; else ""."""
    if meant(key, known):
        return ""
    tables = {one.HEADER for one in Keys.__subclasses__() if one.HEADER and key in one.names()}
    return f"; it is a key of {tables.pop()}" if len(tables) == 1 else ""


_MARKS_AS_LETTERS = str.maketrans("_-.", "aaa")


class Table:
    """One table of the file while it is read. Reports into `errors`, which the whole file shares.

    `keys` declares the known ones (None: any key, for tables whose keys are names). A value that is not a table is
    reported once and read as an empty table.
    """

    def __init__(
        self,
        path: str,
        value: object,
        keys: type[Keys] | Collection[str] | None,
        errors: list[ConfigError],
        *,
        secret: bool = False,
    ) -> None:
        self.path = path
        self.errors = errors
        self.values: Mapping[str, object] = value if isinstance(value, Mapping) else {}
        self.is_table = isinstance(value, Mapping)
        if not self.is_table:
            errors.append(ConfigError(path, HIDDEN if secret else shown(value), "a table"))
        if keys is not None:
            known = keys.names() if isinstance(keys, type) else keys
            for key in [key for key in self.values if key not in known]:
                words = "" if len(errors) >= SUGGESTIONS else _other_table(key, known) or did_you_mean(key, known)
                self.fail(key, key, "a known key" + words)

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def path_of(self, key: str) -> str:
        """The path of a key below this table; a key that TOML would have to quote is quoted."""
        plain = len(key) <= SHOWN_LIMIT and key.isascii() and key.translate(_MARKS_AS_LETTERS).isalnum()
        part = key if plain else shown(key)
        return f"{self.path}.{part}" if self.path else part

    def fail(self, key: str, value: object, wanted: str) -> None:
        """Report `value` (shown) under `key`."""
        self.errors.append(ConfigError(self.path_of(key), shown(value), wanted))

    def missing(self, key: str, wanted: str) -> None:
        """Report that `key` is not there, and what is wanted."""
        if self.is_table:
            self.errors.append(ConfigError(self.path_of(key), None, wanted))

    def get(self, key: Key[T, D]) -> T | D:
        """What a declared key's value means; its default if it is absent or wrong (then it is reported too)."""
        if key.wanted:
            return self.require(key.name, key.parse, key.default, key.wanted)
        return self.read(key.name, key.parse, key.default)

    def get_list(self, key: ListKey[T]) -> tuple[T, ...]:
        """As `read_list`, of a declared key."""
        return self.read_list(key.name, key.parse, key.wanted, secret=key.secret)

    def inner(self, key: str, keys: type[Keys], value: object = None) -> Table:
        """The table that is the value of `key`; an absent one is empty. value: stands in place of the file's."""
        return Table(self.path_of(key), self.values.get(key, {}) if value is None else value, keys, self.errors)

    def read(self, key: str, parse: Callable[[object], T], default: D) -> T | D:
        """What the key's value means; `default` if it is absent or wrong (then it is reported too)."""
        if key not in self.values:
            return default
        return read_value(self.path_of(key), self.values[key], parse, default, self.errors)

    def require(self, key: str, parse: Callable[[object], T], default: D, wanted: str) -> T | D:
        """As `read`, and an absent key is an error that says what is wanted."""
        if key not in self.values:
            self.missing(key, wanted)
        return self.read(key, parse, default)

    def read_list(self, key: str, parse: Callable[[object], T], wanted: str, *, secret: bool = False) -> tuple[T, ...]:
        """What each item of a list means, without the wrong ones (which are reported); () if the key is absent."""
        value = self.values.get(key, ())
        path = self.path_of(key)
        if not isinstance(value, list | tuple):
            self.errors.append(ConfigError(path, HIDDEN if secret else shown(value), wanted))
            return ()
        items = (read_value(f"{path}[{i}]", item, parse, None, self.errors) for i, item in enumerate(value))
        return tuple(item for item in items if item is not None)


def read_value(path: str, value: object, parse: Callable[[object], T], default: D, errors: list[ConfigError]) -> T | D:
    """`parse(value)`, or `default` with the error reported under `path`."""
    try:
        return parse(value)
    except Unwanted as problem:
        errors.append(ConfigError(path, problem.seen or shown(value), problem.wanted))
        return default


def shown(value: object) -> str:
    """A value as a message shows it: one line, at most about 60 characters, nothing that a terminal would act on.

    Lists and tables are named, not shown: what is in them may be a secret that a misplaced bracket put there.
    """
    if isinstance(value, str):
        return f'"{_bounded(value)}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, int) and value.bit_length() > INTEGER_BITS:
        return f"a number beyond {INTEGER_BITS} bits"
    return _bounded(str(value))


def _bounded(text: str) -> str:
    safe = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: SHOWN_LIMIT + 1]).replace('"', '\\"')
    return safe if len(safe) <= SHOWN_LIMIT else safe[: SHOWN_LIMIT - 1] + "…"
