"""What a page states, as single statements that can be true or false, and how each fares against the world. Pure."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from handbook.page.markdown import box_path, code
from handbook.page.phrases import safe
from onbox.contract.json_text import as_object
from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COMMANDS = ("next_command", "resume_command", "dry_run_command", "stop_command")
RUN_FIELDS = ("state", "run_id", "place", "stage", "attempt", "managed", "log")
IDENTITY_FIELDS = ("code", "chain_fingerprint", "config", "host")
STAGE_FIELDS = ("command", "fingerprint", "state")


class CheckedStatement(NamedTuple):
    """One statement. truth: None: it could not be checked. says: what is stated and what was seen."""

    about: str
    truth: bool | None
    says: str


def compare(stated: Mapping[str, Any], seen: Mapping[str, Any]) -> Iterator[CheckedStatement]:
    """The statements of an earlier handbook.json beside what one of now says."""
    now = {(one["box"], one["run"]): one for one in seen["runs"]}
    for old in _runs(stated):
        name = f"{old.get('box')}/{old.get('run')}"
        new = now.pop((old.get("box"), old.get("run")), None)
        if new is None:
            yield CheckedStatement(name, False, "the handbook tells of it, and it is not there any more")
        elif new["step"] == "box-not-there":
            yield CheckedStatement(name, None, f"its box could not be looked at: {new['says']}")
        else:
            yield from _compare_run(name, old, new)
    for box, run in now:
        if run:
            yield CheckedStatement(f"{box}/{run}", False, "it is there, and the handbook does not tell of it")


def _runs(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    runs = data.get("runs")
    return [one for one in runs if isinstance(one, dict) and one.get("run")] if isinstance(runs, list) else []


def _compare_run(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[CheckedStatement]:
    for field in RUN_FIELDS:
        yield _same(f"{name} {field}", old.get(field), new.get(field))
    for field in COMMANDS:
        yield _same(f"{name} {field}", old.get(field), new.get(field))
    yield from _group(
        f"{name} identity", as_object(old.get("identity")), as_object(new.get("identity")), IDENTITY_FIELDS
    )
    fields = ("would",) if new.get("state") == "running" else ("would", "checkpoint", "missing")  # a live run goes on
    yield from _group(f"{name} resume", as_object(old.get("resume")), as_object(new.get("resume")), fields)
    yield from _named(f"{name} stage", old.get("stages"), new.get("stages"), "name", STAGE_FIELDS)
    yield from _named(f"{name} marker", old.get("markers"), new.get("markers"), "path", ("there", "note"))


def _group(
    about: str, old: Mapping[str, Any], new: Mapping[str, Any], fields: Sequence[str]
) -> Iterator[CheckedStatement]:
    if "unknown" in old:
        return  # the page says itself that it does not know
    if "unknown" in new:
        yield CheckedStatement(about, None, f"could not be looked at: {safe(new['unknown'])}")
        return
    for field in fields:
        yield _same(f"{about} {field}", old.get(field), new.get(field))


def _named(about: str, old: Any, new: Any, key: str, fields: Sequence[str]) -> Iterator[CheckedStatement]:
    if not isinstance(old, list) or not isinstance(new, list):
        return
    now = {one[key]: one for one in new}
    for one in old:
        if not isinstance(one, dict):
            continue
        other = now.get(one.get(key))
        if other is None:
            yield CheckedStatement(f"{about} {safe(one.get(key))}", False, "it is not part of the run any more")
        else:
            yield from _group(f"{about} {safe(one.get(key))}", one, other, fields)


def _same(about: str, stated: Any, seen: Any) -> CheckedStatement:
    stated, seen = _quiet(stated), _quiet(seen)
    return CheckedStatement(about, stated == seen, f"stated {safe(stated, 160)}, seen {safe(seen, 160)}")


def _quiet(value: Any) -> Any:
    """What is absent is absent, in whatever words."""
    return None if isinstance(value, dict) and value.keys() == {"absent"} else value


# -- the page itself


def check_page(page: str, stated: Mapping[str, Any], detailed: int) -> Iterator[CheckedStatement]:
    """That the page says what handbook.json says; that its commands are whole shell lines and its links links."""
    for old in _runs(stated)[:detailed]:
        name = f"{old.get('box')}/{old.get('run')}"
        for field in COMMANDS:
            command = old.get(field)
            if isinstance(command, str) and command:
                yield CheckedStatement(f"{name} {field}", code(command) in page, f"in the page: {safe(command, 160)}")
                yield CheckedStatement(
                    f"{name} {field}", _is_shell(command), f"a whole shell line: {safe(command, 160)}"
                )
        if isinstance(old.get("place"), str) and old.get("managed"):
            yield CheckedStatement(
                f"{name} place", box_path(old["place"] + "/") in page, f"in the page: {safe(old['place'], 160)}"
            )
    for link in _links(page):
        yield CheckedStatement(f"link {safe(link, 120)}", _is_link(link), "scheme and host, no blank")


def _is_shell(command: str) -> bool:
    try:
        return bool(shlex.split(command))
    except ValueError:
        return False


def _links(page: str) -> list[str]:
    words = page.replace("(", " ").replace(")", " ").replace("<", " ").replace(">", " ").replace("`", " ").split()
    return sorted({word.rstrip(".,;:") for word in words if word.startswith(("http://", "https://"))})


def _is_link(link: str) -> bool:
    try:
        parts = urlsplit(link)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


# -- paths, on the box or here

PATHS_SCRIPT = r"""
cd "$1" 2>/dev/null || { echo "0 n"; echo '<<<paths end>>>'; return; }
echo "0 y"
shift
command -v "$1" >/dev/null 2>&1 && echo "1 y" || echo "1 n"
v_at=1
shift
for v_path in "$@"; do
  v_at=$((v_at+1))
  [ -e "$v_path" ] && echo "$v_at y" || echo "$v_at n"
done
echo '<<<paths end>>>'
"""
PATHS_END = b"<<<paths end>>>"


def read_paths(output: bytes, about: Sequence[str]) -> list[CheckedStatement]:
    """The answer of the script: about names what was asked, project and program first."""
    said = dict(line.split(" ", 1) for line in output.decode("ascii", "replace").splitlines() if " " in line)
    return [
        CheckedStatement(
            what, {"y": True, "n": False}.get(said.get(str(number), "")), "it is there, and can be entered or run"
        )
        for number, what in enumerate(about)
    ]
