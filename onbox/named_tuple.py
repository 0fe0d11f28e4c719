"""`typing.NamedTuple`, made in less than half the time.

Typing's own compiles every annotation of a class, which nothing here asks for: 80 of its 135 us. A tick of the patrol
has 250 such classes, which is 20 ms of its CPU time. A type checker sees typing's.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - passed on to those who import it from here
else:

    class _Maker(type):
        def __new__(cls, name, bases, namespace):
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = namespace.get("__annotations__", {})
            defaults = [namespace[field] for field in fields if field in namespace]
            for field in list(fields)[len(fields) - len(defaults) :]:
                if field not in namespace:
                    raise TypeError(f"{name}: field {field} without a default stands behind one with a default")
            made = namedtuple(name, fields, defaults=defaults)  # noqa: PYI024 - what typing's makes, too
            for key, value in namespace.items():
                if key not in fields:
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Maker):
        """The base of a class of named fields."""
