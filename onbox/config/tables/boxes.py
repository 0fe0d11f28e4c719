"""[boxes.*]: where runs live, and how they are looked at from the local side. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from onbox.config import values
from onbox.config.fields import Table
from onbox.config.keys import Key, Keys, ListKey, OwnKey
from onbox.config.tables import billing
from onbox.config.tables.clusters import read_cluster
from onbox.contract.names import name_problem, run_name_from
from onbox.model.boxes import BACKENDS, RECOVERIES, Billing, BoxSettings, DeclaredCount, StopAt, Watch
from onbox.model.engines import CLUSTERS

_WATCH_NEEDS = "at least one of log, process, session, artifacts"
_COUNTS_WANTED = 'a list such as [{ local = "data/train", remote = "data/train" }]'


class StopAtKeys(Keys):
    """`stop_at` of a box or of a watched run."""

    step = Key(values.number, None, "A step.", "4000")
    time = Key(values.local_time, None, "A time: local, unless with an offset.", '"2027-01-01 08:00"')
    loss = Key(values.number, None, "A loss.", "0.1")


class CountKeys(Keys):
    """One of `counts` of a box."""

    local = Key(values.text, "", "The source, here.", '"data/train"', wanted="the directory of the source, here")
    remote = Key(values.text, "", "Its copy on the box.", '"data/train"', wanted="the directory on the box")


class WatchKeys(Keys):
    """[boxes.*.watch]."""

    HEADER = "[boxes.gpu1.watch]"
    HELP = (
        "A run that onbox did not start: one table, or a list of tables with a name each. Without done_* a run is done "
        'when its log ends with "Training completed" or "QUEUE DONE" and no process is left.'
    )
    name = Key(values.run_name, "watched", "What it is called.", '"watched"', usual='"watched"')
    log = Key(values.text, None, "Its log.", '"train.log"')
    process = Key(values.text, None, "A pattern that its command line matches, as for pgrep -f.", '"train.py"')
    session = Key(values.text, None, "The tmux or screen session that it runs in.", '"train"')
    artifacts = ListKey(values.text, "Its files.", '["ckpt/*.npz"]', usual="none")
    done_regex = Key(values.regex, None, "It is done when a line of its log matches.", '"^finished"')
    done_file = Key(values.text, None, "It is done when this file is there.", '"DONE"')
    done_count = Key(values.count_from(1), None, "It is done when this many of its artifacts are there.", "10")
    resume = Key(
        values.text,
        None,
        "The command line that starts it again on the box: shown when it is dead, never run.",
        '"sh go.sh"',
    )
    stall_after = Key(
        values.positive_duration,
        None,
        "Stalled after being quiet for this long.",
        '"30m"',
        usual="as the thresholds say",
    )
    expected = Key(values.positive_duration, None, "How long it should take.", '"6h"', usual="not known")
    stop_at = OwnKey("As `stop_at` of the box, for this run.", "{ step = 4000 }", usual="that of the box")
    job = OwnKey("A job of a cluster, by its id.", "")
    resubmit = OwnKey(
        'Only for recover = "resume" on a cluster: the command, run here, that submits the job again.', ""
    )


class BoxKeys(Keys):
    """[boxes.*]."""

    HEADER = "[boxes.gpu1]"
    HELP = "For the local side: where the runs are, and how to look at them."
    host = Key(values.host, "", "The host: an alias of ~/.ssh/config.", '"gpu1"', usual="the box's name")
    project = Key(values.text, None, "The project directory on the box.", '"/root/@NAME@"')
    projects = ListKey(
        values.text,
        "Several of them, instead of `project`: each becomes BOX-DIRECTORY, and `patrol tick BOX` means all of them.",
        "",  # it excludes `project`
        usual="none",
    )
    backend = Key(
        values.one_of(BACKENDS, "a back end"),
        "ssh",
        "One of " + ", ".join(f'"{name}"' for name in BACKENDS) + ".",
        '"ssh"',
        usual='"ssh"',
    )
    recover = Key(
        values.one_of(RECOVERIES, "a way to recover"),
        "never",
        'What may be done about a dead run: "never" (look only), or "resume" for failures that allow it.',
        '"never"',
        usual='"never"',
    )
    state_dir = Key(
        values.text,
        None,
        "Where its runs are, below the project unless absolute.",
        '".onbox"',
        usual="as [run] state_dir",
    )
    owner = Key(values.text, None, "Who is responsible for its runs.", '"Ada"', usual="not named")
    clocks = ListKey(
        values.text,
        "What ends or costs money by itself there; the handbook shows it.",
        '["released on Friday 18:00 UTC", "a stopped box still bills its disk"]',
        wanted='a list such as ["released on Friday at 18:00 UTC"]',
        usual="none",
    )
    deadline = Key(
        values.positive_duration, None, "How long this box may take in one look.", '"1m"', usual="as [patrol] deadline"
    )
    counts = OwnKey(
        "A data set that is being copied: the box must hold as many files as the source here.",
        '[{ local = "data/train", remote = "data/train" }]',
        usual="none",
    )
    results = ListKey(
        values.text,
        "Small files on the box that are shown as they are, once a run is done.",
        '["results/*.csv"]',
        usual="none",
    )
    price = Key(
        billing.price,
        None,
        "What it costs, per hour or day: every tick shows what was spent, and what it costs while nothing runs there.",
        '"2.10 USD/h"',
        usual="not known",
    )
    started = Key(values.local_time, None, "When the rental began.", '"2027-01-01 08:00"', usual="not known")
    budget = Key(billing.amount, None, "You get one message when this much was spent.", '"50 USD"', usual="you are not")
    idle_budget = Key(
        billing.amount,
        None,
        "You get one message when it cost this much while nothing ran.",
        '"5 USD"',
        usual="you are not",
    )
    provider = Key(
        values.text,
        None,
        "The provider, for `patrol teardown-check`: one of its profiles, or the path of your own.",
        '"generic"',
        usual='"generic"',
    )
    stop_at = OwnKey(
        "Where the watch of all its runs ends with a message: at a step, a time (local, unless with an offset), or a "
        "loss. Nothing is stopped by it.",
        '{ step = 4000, time = "2027-01-01 08:00", loss = 0.1 }',
        usual="it goes on",
    )
    watch = OwnKey("Runs that onbox did not start: see below.", "")
    address = OwnKey("For a cluster only: its address.", "")
    token = OwnKey("For a cluster only: its token.", "")


def read_boxes(file: Table) -> tuple[BoxSettings, ...]:
    """Every box, in file order; errors go into the file's list."""
    table = Table("boxes", file.values.get("boxes", {}), None, file.errors)
    boxes = []
    for name, value in table.values.items():
        problem = name_problem(name)
        if problem is not None:
            table.fail(name, name, problem)
        boxes += _projects_of(_read_box(name, inner := Table(table.path_of(name), value, BoxKeys, file.errors)), inner)
    return tuple(boxes)


def _projects_of(box: BoxSettings, table: Table) -> list[BoxSettings]:
    """One for each of its projects; what it costs is told of the first."""
    places = [place.rstrip("/") for place in table.get_list(BoxKeys.projects)]
    if not places:
        return [box]
    for key in ("project", "watch", "counts", "results"):
        if key in table:
            table.fail(key, key, "a key of a box with several `projects`: give that project a table of its own")
    names = [run_name_from(place.rpartition("/")[2]) for place in places]
    for at, name in enumerate(names):
        if name in names[:at]:
            table.fail("projects", places[at], "directories with different names")
    return [
        box._replace(name=f"{box.name}-{name}", project=place, group=box.name, billing=None if at else box.billing)
        for at, (name, place) in enumerate(zip(names, places, strict=True))
    ]


def _read_box(name: str, table: Table) -> BoxSettings:
    backend = table.get(BoxKeys.backend)
    if backend in CLUSTERS:
        return read_cluster(name, backend, table, items_of)
    for key in ("address", "token"):
        if key in table:
            table.fail(key, key, f"given only where backend is one of {', '.join(CLUSTERS)}")
    return BoxSettings(
        name=name,
        host=table.get(BoxKeys.host) or name,
        project=table.get(BoxKeys.project),
        backend=backend,
        recover=table.get(BoxKeys.recover),
        state_dir=table.get(BoxKeys.state_dir),
        owner=table.get(BoxKeys.owner),
        clocks=table.get_list(BoxKeys.clocks),
        deadline_seconds=table.get(BoxKeys.deadline),
        watches=_read_watches(table),
        counts=tuple(_read_count(table, at, item) for at, item in enumerate(items_of(table, "counts", _COUNTS_WANTED))),
        stop_at=_read_stop(table),
        results=table.get_list(BoxKeys.results),
        billing=_read_billing(table),
        provider=table.get(BoxKeys.provider),
    )


def _read_billing(table: Table) -> Billing | None:
    price, started = table.get(BoxKeys.price), table.get(BoxKeys.started)
    limits: dict[str, float | None] = {}
    for key in (BoxKeys.budget, BoxKeys.idle_budget):
        found = table.get(key)
        limits[key.name] = found[0] if found is not None else None
        if found is not None and price is not None and found[1] != price.currency:
            table.fail(key.name, table.values[key.name], f"an amount in {price.currency}, as its price")
    given = [name for name in ("started", "budget", "idle_budget") if name in table]
    if price is None:
        if given and "price" not in table:
            table.missing("price", f"what the box costs, for {given[0]}")
        return None
    return Billing(price, started, limits["budget"], limits["idle_budget"])


def items_of(table: Table, key: str, wanted: str) -> tuple[object, ...]:
    value = table.values.get(key, ())
    if not isinstance(value, list | tuple):
        table.fail(key, value, wanted)
        return ()
    return tuple(value)


def _read_watches(table: Table) -> tuple[Watch, ...]:
    """`watch` is one table, or a list of tables with a name each."""
    value = table.values.get("watch", ())
    items = (value,) if isinstance(value, Mapping) else items_of(table, "watch", "a table, or a list of tables")
    watches: list[Watch] = []
    for at, item in enumerate(items):
        path = table.path_of("watch") + ("" if isinstance(value, Mapping) else f"[{at}]")
        entry = _read_watch(Table(path, item, WatchKeys, table.errors))
        if any(entry.name == other.name for other in watches):
            table.fail(f"watch[{at}].name", entry.name, "a unique name")
        watches.append(entry)
    return tuple(watches)


def _read_watch(table: Table) -> Watch:
    for key in ("job", "resubmit"):
        if key in table:
            table.fail(key, key, f"given only where the box's backend is one of {', '.join(CLUSTERS)}")
    if table.is_table and not any(key in table for key in ("log", "process", "session", "artifacts")):
        table.missing("log", _WATCH_NEEDS)
    if "done_count" in table and "artifacts" not in table:
        table.missing("artifacts", "the files that done_count counts")
    return Watch(
        name=table.get(WatchKeys.name),
        log=table.get(WatchKeys.log),
        process=table.get(WatchKeys.process),
        session=table.get(WatchKeys.session),
        artifacts=table.get_list(WatchKeys.artifacts),
        done_regex=table.get(WatchKeys.done_regex),
        done_file=table.get(WatchKeys.done_file),
        done_count=table.get(WatchKeys.done_count),
        resume=table.get(WatchKeys.resume),
        stall_after_seconds=table.get(WatchKeys.stall_after),
        expected_seconds=table.get(WatchKeys.expected),
        stop_at=_read_stop(table),
    )


def _read_stop(table: Table) -> StopAt | None:
    if "stop_at" not in table:
        return None
    inner = Table(table.path_of("stop_at"), table.values["stop_at"], StopAtKeys, table.errors)
    if inner.is_table and not any(key in inner for key in ("step", "time", "loss")):
        inner.missing("step", "at least one of step, time, loss")
    return StopAt(
        inner.get(StopAtKeys.step),
        inner.get(StopAtKeys.time),
        inner.get(StopAtKeys.loss),
    )


def _read_count(table: Table, at: int, item: object) -> DeclaredCount:
    entry = Table(f"{table.path_of('counts')}[{at}]", item, CountKeys, table.errors)
    local = entry.get(CountKeys.local)
    return DeclaredCount(local, entry.get(CountKeys.remote))
