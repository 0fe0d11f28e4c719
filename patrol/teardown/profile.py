"""What the words of a provider mean: stop, release, terminate, destroy. One TOML file per kind, and users' own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from onbox.config import toml
from onbox.contract.exits import Exit
from onbox.errors import Trouble
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "profiles")
GENERIC = "generic"
LIMIT_BYTES = 1 << 16
_VERB_KEYS = ("does", "stops", "goes_on", "survives", "undo")
_KEYS = ("name", "clocks", "storage", "verbs", "default")


class Verb(NamedTuple):
    """One word of the provider. command: as a person types it, or where it is clicked; ID stands for the box's id
    there. does, stops, goes_on, survives, undo: in words: what it does, what stops costing, what goes on costing, what
    is still there afterwards, whether and how long it can be taken back.
    """

    name: str
    command: str
    does: str
    stops: str
    goes_on: str
    survives: str
    undo: str


class Profile(NamedTuple):
    """clocks: what ends or costs by itself. storage: what survives what. default: the verb that loses least."""

    name: str
    verbs: tuple[Verb, ...]
    clocks: tuple[str, ...]
    storage: tuple[str, ...]
    default: str

    def verb(self, name: str) -> Verb | None:
        return next((one for one in self.verbs if one.name == name), None)


def known_profiles() -> tuple[str, ...]:
    return tuple(sorted(name.removesuffix(".toml") for name in os.listdir(FOLDER) if name.endswith(".toml")))


def load_profile(provider: str | None, folder: str) -> Profile:
    """provider: one of the known, or the path of a TOML file, as onbox.toml says. Raises Trouble with all
    that is wrong.
    """
    name = provider or GENERIC
    if name in known_profiles():
        return _read(os.path.join(FOLDER, f"{name}.toml"), name)
    if not name.endswith(".toml"):
        known = ", ".join(known_profiles())
        text = f'provider {name!r} is not a known profile ({known}); your own: provider = "my_provider.toml"'
        raise Trouble(Exit.CONFIG, safe_line(text))
    return _read(os.path.join(folder, os.path.expanduser(name)), name)


def _read(path: str, shown: str) -> Profile:
    try:
        text = read_file(path, LIMIT_BYTES)
        if text is None:
            raise Trouble(Exit.CONFIG, f"provider {shown!r}: there is no such file ({path})")
        data = toml.loads(text.decode("utf-8"))
    except OSError as error:
        raise Trouble(Exit.CONFIG, f"provider {shown!r}: {path}: {error.strerror}") from error
    except ValueError as error:
        raise Trouble(Exit.CONFIG, f"provider {shown!r}: {path} is not a TOML file: {error}") from error
    problems = problems_of(data)
    if problems:
        raise Trouble(Exit.CONFIG, f"provider {shown!r}: {path}:\n  " + "\n  ".join(problems))
    return profile_of(data)


def problems_of(data: Mapping[str, Any]) -> list[str]:
    """All that is wrong with a profile; [] for nothing. Pure."""
    found = [f"{key}: is not a key of a profile; there are: {', '.join(_KEYS)}" for key in data if key not in _KEYS]
    if not isinstance(data.get("name"), str) or not data.get("name"):
        found.append("name: is missing; wanted: what the provider is called")
    for key in ("clocks", "storage"):
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            found.append(f"{key}: is not a list of sentences")
    verbs = data.get("verbs")
    if not isinstance(verbs, dict) or not verbs:
        return [*found, "verbs: is missing; wanted: a table [verbs.NAME] for each word of the provider"]
    for name, verb in verbs.items():
        table = verb if isinstance(verb, dict) else {}
        wrong = [key for key in ("command", *_VERB_KEYS) if not isinstance(table.get(key), str)]
        found += [f"verbs.{name}.{key}: is missing; wanted: a sentence" for key in wrong]
        found += [f"verbs.{name}.{key}: is not a key of a verb" for key in table if key not in ("command", *_VERB_KEYS)]
    if data.get("default") not in verbs:
        found.append(f"default: is not one of its verbs: {', '.join(verbs)}")
    return [safe_line(one, 300) for one in found]


def profile_of(data: Mapping[str, Any]) -> Profile:
    """Pure; of one without problems."""
    verbs = tuple(
        Verb(safe_line(name, 40), safe_line(verb["command"], 300), *(safe_line(verb[key], 300) for key in _VERB_KEYS))
        for name, verb in data["verbs"].items()
    )
    lists = {key: tuple(safe_line(one, 300) for one in data.get(key, ())) for key in ("clocks", "storage")}
    return Profile(safe_line(data["name"], 80), verbs, lists["clocks"], lists["storage"], data["default"])
