"""The words of `onbox chain`: which stages to run. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onbox.config.fields import Unwanted, shown
from onbox.config.tables.engines import general_options
from onbox.config.values import command
from onbox.contract.names import log_name_clashes, stage_name_problem
from onbox.did_you_mean import meant
from onbox.model.manifest import Stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onbox.config.parse import Config

KNOWN_SHOWN = 10
HINT = "to run a command under its own name: onbox chain 'NAME=COMMAND'"


class UsageProblem(ValueError):
    """What is wrong with the words, all of it: one line for each problem, and a hint where one helps."""

    def __init__(self, problems: Sequence[str], hint: str | None = None) -> None:
        self.problems = tuple(problems)
        self.hint = hint
        super().__init__("\n".join([*self.problems, *([hint] if hint else [])]))


def stages_from_words(words: Sequence[str], config: Config) -> tuple[Stage, ...]:
    """The stages to run, in the order of the words; all stages of the configuration if there are no words.

    A word is a configured stage's name, or `NAME=COMMAND` (split at the first "="), which gives a configured stage
    another command under its configured conditions, or makes a stage with the environment of [run] and the [gates].
    Raises UsageProblem with every problem.
    """
    configured = {stage.name: stage for stage in config.stages}
    if not words:
        if not configured:
            raise UsageProblem(["nothing to run: no stages are configured"], HINT)
        return config.stages
    problems: list[str] = []
    unknown = False
    stages = []
    for word in words:
        name, defines, text = word.partition("=")
        name = name.strip()
        if defines:
            problems += _definition_problems(name, text)
            stages.append(_defined(name, text.lstrip(), configured, config))
        elif name in configured:
            stages.append(configured[name])
        else:
            unknown = True
            problems.append(_unknown_stage(word, configured))
    problems += _name_problems([stage.name for stage in stages], configured)
    if problems:
        raise UsageProblem(problems, HINT if unknown else None)
    return tuple(stages)


def _defined(name: str, text: str, configured: Mapping[str, Stage], config: Config) -> Stage:
    if name in configured:
        return configured[name]._replace(cmd=text)
    return Stage(name, text, env=config.env, gates=config.gates, sbatch=general_options(config.backends))


def _definition_problems(name: str, text: str) -> Iterable[str]:
    problem = stage_name_problem(name)
    if problem is not None:
        yield f"{shown(name)} is not {problem}"
    try:
        command(text)
    except Unwanted as unwanted:
        blank = not text.strip()
        yield f"stage {name}: the command is empty" if blank else f"stage {name}: the command is not {unwanted.wanted}"


def _unknown_stage(word: str, configured: Mapping[str, Stage]) -> str:
    if not configured:
        return f"no stage {shown(word)}: no stages are configured"
    known = ", ".join(sorted(configured)[:KNOWN_SHOWN]) + (" …" if len(configured) > KNOWN_SHOWN else "")
    return f"no stage {shown(word)}; {meant(word, configured) or f'there are: {known}'}"


def _name_problems(names: Sequence[str], configured: Mapping[str, Stage]) -> Iterable[str]:
    for name, count in Counter(names).items():
        if count > 1:
            yield f"stage {shown(name)} is named {count} times; each may run once in a chain"
    for stage, other in log_name_clashes({*names, *configured}):
        yield f"stage {other} cannot be combined with {stage}: attempts of {stage} log to {other}.log too"
