"""What one key of onbox.toml is: a declaration from which the parser, its errors, the template of `onbox init --full`
and docs/configuration.md come.

A table of the file is a subclass of `Keys`; an attribute is a key of the same name (a word that Python keeps for itself
gets a "_" behind it, and a name of its own is given as `name`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
D = TypeVar("D")


class AnyKey:
    """What the template and the docs show of a key.

    help: one or two short sentences. example: its value as TOML text; "": shown with its table. usual: what holds where
    the key is absent, as TOML text or in words; "": nothing needs to be said.
    """

    name = ""

    def __init__(self, help_: str, example: str, *, usual: str = "", name: str = "") -> None:
        self.help, self.example, self.usual = help_, example, usual
        self.name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name.rstrip("_")


class Key(AnyKey, Generic[T, D]):
    """A key with one value. parse: raises Unwanted. default: where it is absent or wrong. wanted: "": it may be absent;
    else it must be there, and this says what is wanted.
    """

    def __init__(
        self,
        parse: Callable[[object], T],
        default: D,
        help_: str,
        example: str,
        *,
        usual: str = "",
        wanted: str = "",
        name: str = "",
    ) -> None:
        super().__init__(help_, example, usual=usual or ("required" if wanted else ""), name=name)
        self.parse, self.default, self.wanted = parse, default, wanted


class ListKey(AnyKey, Generic[T]):
    """A key whose value is a list. parse: of one item. wanted: what the list should look like."""

    def __init__(
        self,
        parse: Callable[[object], T],
        help_: str,
        example: str,
        *,
        wanted: str = "",
        usual: str = "",
        secret: bool = False,
    ) -> None:
        super().__init__(help_, example, usual=usual)
        self.parse, self.wanted, self.secret = parse, wanted or f"a list such as {example}", secret


class OwnKey(AnyKey):
    """A key that is read by code of its own: a table, or a value of several forms."""


class Keys:
    """One table of the file.

    HEADER: its line in the file, such as `[stages.train]`; "": it stands inside another key's value. HELP: what it is
    for.
    """

    HEADER: ClassVar[str] = ""
    HELP: ClassVar[str] = ""

    @classmethod
    @cache  # each stage of a file asks: 0.7 ms of the start of 200
    def rows(cls) -> tuple[AnyKey, ...]:
        """Its keys, in the order of their declaration; those of a base class first."""
        found: dict[str, AnyKey] = {}
        for owner in reversed(cls.__mro__):
            found |= {key.name: key for key in vars(owner).values() if isinstance(key, AnyKey)}
        return tuple(found.values())

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of its keys."""
        return tuple(key.name for key in cls.rows())
