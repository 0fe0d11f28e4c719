"""[boxes.*] whose backend is asked over HTTP: a cluster, and the jobs there that are to be looked at. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Table, Unwanted
from onbox.config.keys import Key, Keys, OwnKey
from onbox.config.tables.engines import PARTS, job_id
from onbox.model.boxes import RECOVERIES, BoxSettings, Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    Items = Callable[[Table, str, str], tuple[object, ...]]

_NEEDS_SHELL = ("host", "project", "state_dir", "counts")
_WANTED = "a table { job = ... }, or a list of them"
_NO_SHELL = 'nothing here: a cluster is asked over HTTP; a machine behind ssh is a box of its own (backend = "ssh")'
_OWN_OUTCOME = ("--no-wait", "--no_wait")


def _resubmit(value: object) -> tuple[str, ...]:
    """The words of the command. One that would wait for the job's end would hold the patrol for hours."""
    if isinstance(value, list | tuple) and all(isinstance(word, str) and word and "\0" not in word for word in value):
        words = tuple(map(str, value))
    else:
        try:
            words = tuple(shlex.split(values.text(value)))
        except ValueError as error:
            raise Unwanted(f"a command whose quotes are closed ({error})") from error
    before = words[: words.index("--")] if "--" in words else words
    if not any(word in _OWN_OUTCOME for word in before):
        raise Unwanted("a command with --no-wait (before any `--`), so that it returns once the job is submitted")
    return words


class WatchedJobKeys(Keys):
    """[boxes.*.watch] of a cluster."""

    name = OwnKey("What it is called.", '"llm"', usual="the last word of its id")
    job = OwnKey("Its id.", "", usual="required")
    resubmit = Key(
        _resubmit,
        None,
        'Only for recover = "resume": the command, run here, that submits it again and does not wait.',
        "",
    )
    stall_after = Key(
        values.positive_duration,
        None,
        "Stalled after being quiet for this long.",
        '"30m"',
        usual="as the thresholds say",
    )
    expected = Key(values.positive_duration, None, "How long it should take.", '"6h"', usual="not known")


class ClusterKeys(Keys):
    """[boxes.*] whose backend is asked over HTTP."""

    address = Key(values.http_url, None, "Where it answers.", "", usual="as in the engine's own table")
    token = Key(values.secret_reference, None, "Its token.", "", usual="as in the engine's own table")
    recover = Key(values.one_of(RECOVERIES, "a way to recover"), "never", "As for any box.", '"never"', usual='"never"')
    owner = Key(values.text, None, "Who answers for its jobs.", '"Ada"', usual="not named")
    deadline = Key(values.positive_duration, None, "How long one look may take.", '"1m"', usual="as [patrol] deadline")


def read_cluster(name: str, engine: str, table: Table, items: Items) -> BoxSettings:
    """The box; errors go into the file's list. items: reads a list of tables."""
    for key in _NEEDS_SHELL:
        if key in table:
            table.fail(key, key, _NO_SHELL)
    address = table.get(ClusterKeys.address)
    recover = table.get(ClusterKeys.recover)
    return BoxSettings(
        name=name,
        host=address or name,
        backend=engine,
        recover=recover,
        owner=table.get(ClusterKeys.owner),
        deadline_seconds=table.get(ClusterKeys.deadline),
        watches=_read_jobs(table, engine, items, may_resubmit=recover != "never"),
        address=address,
        token=table.get(ClusterKeys.token),
    )


def _read_jobs(table: Table, engine: str, items: Items, *, may_resubmit: bool) -> tuple[Watch, ...]:
    value = table.values.get("watch", ())
    entries = (value,) if isinstance(value, Mapping) else items(table, "watch", _WANTED)
    if not entries and table.is_table:
        table.missing("watch", f"the jobs to look at: {_WANTED}")
    found: list[Watch] = []
    for at, item in enumerate(entries):
        path = table.path_of("watch") + ("" if isinstance(value, Mapping) else f"[{at}]")
        watch = _read_job(Table(path, item, WatchedJobKeys, table.errors), engine, may_resubmit=may_resubmit)
        if any(watch.name == other.name for other in found):
            table.fail(f"watch[{at}].name", watch.name, "a unique name")
        found.append(watch)
    return tuple(found)


def _read_job(table: Table, engine: str, *, may_resubmit: bool) -> Watch:
    job = table.require("job", partial(job_id, engine), "", PARTS[engine].job_wanted)
    resubmit = table.get(WatchedJobKeys.resubmit)
    if may_resubmit and resubmit is None and table.is_table:
        table.missing("resubmit", 'the command that submits the job again, as recover = "resume" is set')
    return Watch(
        name=table.read("name", values.run_name, name_of_job(job)),
        job=job,
        resubmit=resubmit,
        stall_after_seconds=table.get(WatchedJobKeys.stall_after),
        expected_seconds=table.get(WatchedJobKeys.expected),
    )


def name_of_job(job: str) -> str:
    """What a job is called where nobody gave it a name: the last word of its id."""
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", job.rstrip("/").rpartition("/")[2]).lstrip(".-")
    return name[:60] or "job"
