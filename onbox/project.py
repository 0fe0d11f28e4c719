"""Find and read onbox.toml: for the commands of every package."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

from onbox.config import toml
from onbox.config.bounds import bounds_problem
from onbox.config.parse import Config, ConfigErrors, parse_config, run_name_from
from onbox.config.trust_keys import without
from onbox.contract.exits import Exit
from onbox.contract.paths import CONFIG_FILE, DEFAULT_STATE_DIR, RunPaths
from onbox.errors import Trouble
from onbox.named_tuple import NamedTuple
from onbox.outside import safe_line
from onbox.system.files import has_name, read_file
from onbox.system.ownership import is_ours, why_not_ours
from onbox.triage.classes import NEVER
from onbox.trust import ask, stand_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from onbox.config.trust_keys import Delicate

FILE_LIMIT_BYTES = 1 << 20
SMALL, SMALL_NESTS = 1 << 14, 64
ERRORS_SHOWN = 100
PATH_LIMIT = 4096


class BrokenConfig(Trouble):
    """An onbox.toml that cannot be used. errors: what is wrong, with places; first: the same with the first place only;
    the text adds what to do. What works without the file is for those to add who know where it is shown (`also`).
    """

    def __init__(self, path: str, what: str, errors: Sequence[str]) -> None:
        self.path = path
        self.first = f"{what}: {errors[0]}" if errors else what
        shown = safe_line(path, PATH_LIMIT)
        self.errors = "\n  ".join([f"{shown}: {what}", *errors])
        super().__init__(Exit.CONFIG, "\n  ".join([f"{shown}: {what}; correct the file, then: onbox check", *errors]))

    def also(self, words: str) -> None:
        """One more line of the text."""
        self.args = (f"{self}\n  {words}",)


class Project(NamedTuple):
    """Where commands work. `config_path` is None when there is no onbox.toml: then `config` holds the defaults.
    withheld: keys of the file that nobody accepted (onbox/trust.py): `config` is as if they did not stand there.
    broken: why nothing else of the file is known; only commands that look at or end a run go on then. run_unknown:
    not even what it calls its run: `config` has a name that stands for nothing.
    """

    folder: str
    config_path: str | None
    config: Config
    withheld: tuple[Delicate, ...] = ()
    broken: BrokenConfig | None = None
    run_unknown: bool = False

    @property
    def state_dir(self) -> str:
        return os.path.join(self.folder, os.path.expanduser(self.config.state_dir or DEFAULT_STATE_DIR))

    def paths(self, run: str | None) -> RunPaths:
        """The run directory of `run`; None means the configured (or default) name."""
        return RunPaths(os.path.abspath(os.path.join(self.state_dir, run or self.config.run_name)))


def find_config(folder: str) -> str | None:
    """The nearest onbox.toml in `folder` or above it; None if there is none. Raises Trouble where others could have
    written it: it says what is run here.

    The search ends at the home folder, where another file system begins, and below a folder that others can write:
    what they put there is about no project of this user.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    while True:
        path = os.path.join(folder, CONFIG_FILE)
        if os.path.isfile(path):
            _refuse_foreign(path)
            return path
        if os.path.lexists(path):  # a link to nowhere, a folder: whoever took it for none would run without its gates
            return path
        parent = os.path.dirname(folder)
        if folder in (parent, home) or not _goes_on(folder, parent):
            return None
        folder = parent


def _goes_on(folder: str, parent: str) -> bool:
    """Whether the search leads from a folder to the one above it."""
    try:
        if os.stat(folder).st_dev != os.stat(parent).st_dev:
            return False
        if is_ours(os.stat(parent), team=True):
            return True
        path = os.path.join(parent, CONFIG_FILE)
        if not os.path.isfile(path) or why_not_ours(path, team=True) is not None:
            return False
        why = why_not_ours(parent, team=True)
    except OSError:
        return False  # what cannot be looked at is not believed
    if why is not None:
        shown = safe_line(shlex.quote(path), PATH_LIMIT)
        print(f"note: {shown} is not used here: its folder {why.says}; to use it: -c {shown}", file=sys.stderr)
    return why is None


def _refuse_foreign(path: str) -> None:
    try:
        why = why_not_ours(path, team=True)
    except OSError as error:
        raise Trouble(Exit.CONFIG, f"{safe_line(path, PATH_LIMIT)}: cannot be read ({error.strerror})") from error
    if why is None or _came_with_a_copy(path):
        return
    quoted = safe_line(shlex.quote(path), PATH_LIMIT)
    cure = f"chmod go-w {quoted}" if why.by_mode else f"chown {os.geteuid()} {quoted}"
    raise Trouble(
        Exit.CONFIG,
        f"{quoted} {why.says}: it says what is run here, so it is not used; if it is yours: {cure};"
        f" to use it as it is: -c {quoted}; else move it away",
    )


def _came_with_a_copy(path: str) -> bool:
    """Whether its owner is a number without a name here, and the file lies in root's own closed folder: what `rsync -a`
    to a rented box leaves there. Nobody else could have reached it.
    """
    home = os.path.expanduser("~root")
    if os.geteuid() != 0 or not os.path.realpath(path).startswith(f"{os.path.realpath(home)}/"):
        return False
    found, closed = os.stat(path), os.stat(home)
    is_closed = closed.st_uid == 0 and not closed.st_mode & 0o077 and closed.st_dev == found.st_dev
    return is_closed and not has_name(found.st_uid) and not found.st_mode & 0o002


def load_project(config_option: str | None, *, asks: Collection[str] = (), given: Collection[str] = ()) -> Project:
    """The project that the working directory (or `-c`) belongs to. asks: the uses of delicate keys that this command
    has: at a terminal it is asked for them. given: uses that the user's own words stand for, so that nobody is asked.
    Raises Trouble with every error of its file.
    """
    path = os.path.abspath(config_option) if config_option else find_config(os.getcwd())
    if path is None:
        folder = os.getcwd()
        return Project(folder, None, parse_config({}, default_name=run_name_from(os.path.basename(folder))))
    data = read_toml(path)
    config = _parse(path, data)
    stand = stand_of(path, data, os.environ)
    if stand.open:
        stand = ask(stand, asks, os.environ)
    withheld = tuple(one for one in stand.open if one.use not in given)
    if withheld:
        config = _parse(path, without(data, withheld))
    return Project(os.path.dirname(path), path, config, withheld)


def _parse(path: str, data: Mapping[str, Any]) -> Config:
    try:
        default_name = run_name_from(os.path.basename(os.path.dirname(path)))
        return parse_config(data, default_name=default_name, known_classes=NEVER)
    except ConfigErrors as errors:
        count = len(errors.errors)
        what = f"{count} error{'' if count == 1 else 's'}"
        raise BrokenConfig(path, what, [line.strip() for line in error_lines(path, errors)]) from errors
    except RecursionError as error:
        raise BrokenConfig(path, "its tables are nested too deep", []) from error


def error_lines(path: str, errors: ConfigErrors) -> Iterator[str]:
    """Each error of a file that has been read, with its line where that can be told; of very many the first."""
    from onbox.config.lines import line_of, lines_of  # noqa: PLC0415 - its patterns, at every start

    lines = lines_of((read_file(path, FILE_LIMIT_BYTES) or b"").decode("utf-8", "replace"))
    for error in errors.errors[:ERRORS_SHOWN]:
        line = line_of(lines, error.path)
        yield f"  {error}" if line is None else f"  line {line}: {error}"
    if len(errors.errors) > ERRORS_SHOWN:
        yield f"  and {len(errors.errors) - ERRORS_SHOWN} more"


def read_toml(path: str) -> dict[str, Any]:
    """A TOML file as plain data. Raises Trouble: no file, unreadable, not UTF-8, not TOML (with line and column)."""
    try:
        data = read_file(path, FILE_LIMIT_BYTES + 1)
    except OSError as error:
        raise BrokenConfig(path, f"cannot be read ({error.strerror})", []) from error
    if data is None and os.path.islink(path):
        leads = safe_line(shlex.quote(os.readlink(path)), PATH_LIMIT)
        raise BrokenConfig(path, f"is a link to {leads}, and no file is there", [])
    if data is None:
        raise Trouble(Exit.CONFIG, f"{safe_line(path, PATH_LIMIT)}: there is no such file; `onbox init` writes one")
    return parse_toml(data, path)


def parse_toml(data: bytes, path: str) -> dict[str, Any]:
    """TOML as plain data. path: what it is called in the errors. Raises Trouble."""
    try:
        if len(data) > FILE_LIMIT_BYTES:
            raise BrokenConfig(path, f"is larger than {FILE_LIMIT_BYTES >> 20} MiB, which no configuration needs", [])
        text = data.decode("utf-8")
        _refuse_out_of_bounds(path, text)
        return toml.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BrokenConfig(path, "is not UTF-8", [f"line {line}: byte {error.start} of the file"]) from error
    except (ValueError, RecursionError) as error:  # the parser's own, a number too long, brackets too deep
        from onbox.config.lines import syntax_error  # noqa: PLC0415 - as in error_lines

        raise BrokenConfig(path, "is not TOML", [safe_line(syntax_error(str(error), text), 300)]) from error


def _refuse_out_of_bounds(path: str, text: str) -> None:
    """What little text there is the parser is done with at once, but for brackets within brackets."""
    if len(text) < SMALL and text.count("[") + text.count("{") < SMALL_NESTS:
        return
    if problem := bounds_problem(text):
        raise BrokenConfig(path, "cannot be used", [f"{problem}, which no configuration needs"])
