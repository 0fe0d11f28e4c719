"""Slurm's part of a configuration: [slurm], and what each stage asks of `sbatch`. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.config import values
from onbox.config.fields import Table, Unwanted
from onbox.config.keys import Key, Keys, OwnKey
from onbox.config.tables.engine_part import EnginePart, Options, kept
from onbox.did_you_mean import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

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


class SlurmKeys(Keys):
    """[slurm]."""

    HEADER = "[slurm]"
    HELP = "Slurm runs the stages if [run] backend says so."
    sbatch = OwnKey(
        "Options of every stage's sbatch, as in a stage.", '{ account = "lab", time = "12:00:00" }', usual="none"
    )
    lead = Key(
        values.duration,
        None,
        'How long before its time limit a job gets a signal; with requeue = true it then goes back into the queue. "0s": never.',
        '"2m"',
        usual="grace and a minute",
    )


def _read(table: Table) -> Mapping[str, object]:
    return kept({"sbatch": read_sbatch(table), "lead": table.get(SlurmKeys.lead)})


PART = EnginePart(keys=SlurmKeys, read=_read, read_options=read_sbatch)
