"""Which stages a command line means: names of configured stages, or `NAME=COMMAND`. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.contract.config import stage_name_problem
from onbox.contract.fields import nearest
from onbox.contract.manifest import Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onbox.contract.config import Config


class UsageProblem(ValueError):
    """Words that name no stages. The text has one line per problem."""


def stages_from_words(words: Sequence[str], config: Config) -> tuple[Stage, ...]:
    """The stages that the words of `onbox chain` mean, in their order; no words: all that are configured.

    `name` takes a configured stage as it is; `name=command` gives a stage its command and keeps the conditions that
    are configured for it. Raises UsageProblem with everything that is wrong.
    """
    if not words:
        if not config.stages:
            raise UsageProblem("nothing to run: no stages are configured\n  try: onbox chain 'train=python train.py'")
        return config.stages
    configured = {stage.name: stage for stage in config.stages}
    chosen: list[Stage] = []
    problems: list[str] = []
    for word in words:
        found = _stage(word, configured, config)
        if isinstance(found, str):
            problems.append(found)
        elif any(stage.name == found.name for stage in chosen):
            problems.append(f"stage {found.name} is named twice")
        else:
            chosen.append(found)
    if problems:
        raise UsageProblem("\n  ".join(problems))
    return tuple(chosen)


def _stage(word: str, configured: dict[str, Stage], config: Config) -> Stage | str:
    """The stage that a word means, or what is wrong with the word."""
    name, given, command = word.partition("=")
    if not given:
        if word in configured:
            return configured[word]
        known = nearest(word, configured) if configured else "; none are configured"
        return f"no stage {word!r}{known} (a command line stands as 'NAME=COMMAND')"
    problem = stage_name_problem(name)
    if problem:
        return f"{name!r} is not {problem}"
    if not command.strip() or "\0" in command:
        return f"stage {name}: no command after the '='"
    if name in configured:
        return configured[name]._replace(cmd=command)
    return Stage(name, command, env=config.env, gates=config.gates)
