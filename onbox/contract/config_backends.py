"""What a configuration says of the engines that run its jobs: [slurm], [ray], [iris] and a stage's `sbatch`. Pure."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from onbox.contract import config_values as values
from onbox.contract.config_fields import Table, Unwanted
from onbox.contract.meant import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")

Options = tuple[tuple[str, str | None], ...]

ENGINES = ("local", "slurm", "ray", "iris")  # where `onbox chain` runs its stages
SLURM_KEYS = ("sbatch", "lead")
RAY_KEYS = ("address", "token", "project", "onbox", "cpus", "gpus", "memory", "resources")
IRIS_KEYS = ("controller", "token", "cluster", "config", "command", "onbox", "args")

# Options of sbatch(1) that say what a job needs and where it may run, as of 22.05 to 24.11.
SBATCH_OPTIONS = frozenset(
    """
    account acctg-freq batch bb bbf begin comment constraint container contiguous core-spec cores-per-socket
    cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot distribution exclude exclusive export extra get-user-env
    gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint hold licenses mail-type
    mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus network nice no-requeue nodefile nodelist nodes
    ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket overcommit oversubscribe partition power
    prefer priority profile propagate qos reboot requeue reservation segment sockets-per-node spread-job switches
    thread-spec threads-per-core time time-min tmp tres-per-task uid use-min-nodes wckey x11
    """.split()
)
# Those that the chain itself needs, and why they are not the user's.
_OWN_OPTIONS = {
    "array": "a stage is one job",
    "clusters": "jobs are looked for in the cluster that this machine belongs to",
    "chdir": "set the stage's `cwd`",
    "dependency": "stages depend on each other in their order",
    "error": "`onbox logs` shows the logs",
    "input": "a stage has no standard input",
    "job-name": "jobs are found by names of onbox's own",
    "kill-on-invalid-dep": "a stage whose predecessor failed never waits for ever",
    "open-mode": "a requeue must not erase a log",
    "output": "`onbox logs` shows the logs",
    "parsable": "onbox reads the answer",
    "signal": "set `lead` in [slurm]",
    "test-only": "it would start nothing",
    "wait": "`onbox chain` itself waits",
    "wrap": "set the stage's `cmd`",
}


def read_sbatch(table: Table) -> Options:
    """The `sbatch` table below `table`: (option, value) pairs sorted by name, value None for a flag."""
    if "sbatch" not in table:
        return ()
    options = Table(table.path_of("sbatch"), table.values["sbatch"], None, table.errors)
    found: list[tuple[str, str | None]] = []
    for key in options.values:
        name = key.replace("_", "-")
        problem = _option_problem(name)
        if problem is not None:
            options.fail(key, key, problem)
            continue
        value = options.read(key, _option_value, False)
        if value is True:
            found.append((name, None))
        elif value is not False:
            found.append((name, str(value)))
        elif name == "requeue":
            found.append(("no-requeue", None))
    return tuple(sorted(found, key=lambda pair: pair[0]))


def merge_options(general: Options, own: Options) -> Options:
    """Both sorted by name; where both have an option, the stage's own value holds."""
    return tuple(sorted({**dict(general), **dict(own)}.items()))


def _option_problem(name: str) -> str | None:
    if name in _OWN_OPTIONS:
        return f"allowed here: {_OWN_OPTIONS[name]}"
    if name not in SBATCH_OPTIONS:
        return "a long option of sbatch" + did_you_mean(name, SBATCH_OPTIONS)
    return None


def _option_value(value: object) -> str | bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return str(value)
    text = values.text(value)
    if any(not c.isprintable() for c in text):
        raise Unwanted("a text of one line")
    return text


def read_backends(file: Table) -> Mapping[str, Mapping[str, object]]:
    """[slurm], [ray] and [iris], checked: only keys that are set, durations in seconds; `sbatch` as Options."""
    return MappingProxyType({"slurm": _read_slurm(file), "ray": _read_ray(file), "iris": _read_iris(file)})


def _sub_table(file: Table, key: str, known: tuple[str, ...]) -> Table:
    return Table(file.path_of(key), file.values.get(key, {}), known, file.errors)


def _kept(found: Mapping[str, object]) -> Mapping[str, object]:
    return MappingProxyType({key: value for key, value in found.items() if value not in (None, ())})


def _read_slurm(file: Table) -> Mapping[str, object]:
    table = _sub_table(file, "slurm", SLURM_KEYS)
    return _kept({"sbatch": read_sbatch(table), "lead": table.read("lead", values.duration, None)})


def _read_ray(file: Table) -> Mapping[str, object]:
    table = _sub_table(file, "ray", RAY_KEYS)
    resources = Table(table.path_of("resources"), table.values.get("resources", {}), None, table.errors)
    custom = {name: resources.read(name, _amount, None) for name in resources.values}
    return _kept(
        {
            "address": table.read("address", http_url, None),
            "token": table.read("token", values.secret_reference, None),
            "project": table.read("project", values.text, None),
            "onbox": table.read("onbox", values.text, None),
            "cpus": table.read("cpus", _amount, None),
            "gpus": table.read("gpus", _amount, None),
            "memory": table.read("memory", values.size, None),
            "resources": {name: amount for name, amount in custom.items() if amount is not None} or None,
        }
    )


def _read_iris(file: Table) -> Mapping[str, object]:
    table = _sub_table(file, "iris", IRIS_KEYS)
    return _kept(
        {
            "controller": table.read("controller", http_url, None),
            "token": table.read("token", values.secret_reference, None),
            "cluster": table.read("cluster", values.text, None),
            "config": table.read("config", values.text, None),
            "command": table.read("command", values.text, None),
            "onbox": table.read("onbox", values.text, None),
            "args": table.read_list("args", _word, 'a list of words, such as ["--cpu", "4", "--memory", "16GB"]'),
        }
    )


def _amount(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise Unwanted("a number of 0 or more")
    return float(value)


def _word(value: object) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise Unwanted("a text without NUL characters")
    if value in ("--job-name", "--no-wait") or value.startswith("--job-name="):
        raise Unwanted("allowed here: onbox names its jobs itself and never waits for them there")
    return value


def http_url(value: object) -> str:
    """An http(s) URL without user name, password and trailing slash: a secret must not lie in a file."""
    text = values.text(value).strip()
    if not re.fullmatch(r"https?://[^\s/@?#]+(?:/[^\s@?#]*)?", text):
        raise Unwanted('a URL such as "http://127.0.0.1:8265", without a user, a password or a query')
    return text.rstrip("/")
