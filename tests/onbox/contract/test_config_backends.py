"""[slurm], [ray], [iris] and `sbatch` of a configuration."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.contract.config import ConfigErrors, parse_config


def stage(sbatch: Any, **file: Any) -> tuple[tuple[str, str | None], ...]:
    data = {"stages": {"train": {"cmd": "x", "sbatch": sbatch}}, **file}
    return parse_config(data, default_name="digits").stages[0].sbatch


def errors(data: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigErrors) as caught:
        parse_config(data, default_name="digits")
    return [str(error) for error in caught.value.errors]


def test_values_become_words_and_flags() -> None:
    assert stage({"gres": "gpu:1", "cpus_per_task": 8, "requeue": True, "exclusive": False}) == (
        ("cpus-per-task", "8"),
        ("gres", "gpu:1"),
        ("requeue", None),
    )


def test_a_stages_options_override_those_of_all() -> None:
    general = {"sbatch": {"time": "1-0", "account": "lab"}}
    assert stage({"time": "30"}, slurm=general) == (("account", "lab"), ("time", "30"))


def test_no_requeue_is_said_aloud() -> None:
    assert stage({"requeue": False}) == (("no-requeue", None),)


@pytest.mark.parametrize("option", ["dependency", "output", "open_mode", "job-name", "signal", "wrap", "array"])
def test_what_the_chain_needs_is_not_the_users(option: str) -> None:
    found = errors({"stages": {"train": {"cmd": "x", "sbatch": {option: "y"}}}})
    assert len(found) == 1
    assert "allowed here" in found[0]


def test_an_unknown_option_is_named_with_the_nearest() -> None:
    found = errors({"slurm": {"sbatch": {"partion": "gpu"}}})
    assert 'did you mean "partition"?' in found[0]


def test_every_error_is_told_at_once() -> None:
    found = errors(
        {
            "run": {"backend": "pbs"},
            "slurm": {"lead": "soon", "sbatch": ["x"]},
            "ray": {"address": "http://user:pw@head:8265", "token": "abc", "cpus": -1},
            "iris": {"args": ["--no-wait"], "controller": "head:10000"},
        }
    )
    assert len(found) == 8


def test_a_literal_token_is_never_shown() -> None:
    found = errors({"ray": {"token": "hf_secret_value"}})
    assert "hf_secret_value" not in "\n".join(found)


def test_what_is_set_is_kept_and_nothing_else() -> None:
    data = {"ray": {"address": "http://head:8265/", "cpus": 2, "resources": {"TPU": 4}}}
    config = parse_config(data, default_name="digits")
    assert dict(config.backends["ray"]) == {"address": "http://head:8265", "cpus": 2.0, "resources": {"TPU": 4.0}}
    assert dict(config.backends["slurm"]) == {}
    assert config.backend == "local"
