"""[slurm], [ray], [iris] and `sbatch` of a configuration."""

from __future__ import annotations

from typing import Any

import pytest

from onbox.config.parse import ConfigErrors, parse_config


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


# -- [boxes.*] that are clusters


def cluster(backend: str = "ray", **box: Any) -> Any:
    data = {"boxes": {"c": {"backend": backend, **box}}}
    return parse_config(data, default_name="digits").boxes[0]


def cluster_errors(backend: str = "ray", **box: Any) -> str:
    return "\n".join(errors({"boxes": {"c": {"backend": backend, **box}}}))


def test_a_cluster_names_its_jobs() -> None:
    box = cluster("iris", watch={"job": "/ada/llm-7b", "stall_after": "1h"}, address="http://127.0.0.1:10000/")
    assert (box.is_cluster, box.address) == (True, "http://127.0.0.1:10000")
    (watch,) = box.watches
    assert (watch.name, watch.job, watch.stall_after_seconds) == ("llm-7b", "/ada/llm-7b", 3600.0)


@pytest.mark.parametrize("job", ["llm-7b", "ada/llm-7b", "/ada", "/ada/", "/a da/x"])
def test_iris_wants_the_whole_id(job: str) -> None:
    assert "/USER/JOB" in cluster_errors("iris", watch={"job": job})


@pytest.mark.parametrize("job", ["", 7])
def test_a_job_is_a_text(job: Any) -> None:
    assert "boxes.c.watch.job" in cluster_errors("iris", watch={"job": job})


@pytest.mark.parametrize("job", ["/ada/llm", "a b", "a;b", "x" * 201])
def test_a_ray_id_is_one_word(job: str) -> None:
    assert "submission id" in cluster_errors(watch={"job": job})


def test_a_cluster_has_no_shell() -> None:
    text = cluster_errors(host="h", project="/p", watch=[{"job": "a", "log": "x.log"}, {"job": "a"}])
    for key in ("host", "project", "log", "watch[1].name"):
        assert key in text


def test_a_cluster_without_jobs_is_told_what_it_wants() -> None:
    assert "boxes.c.watch" in cluster_errors()


def test_a_submission_must_not_wait_and_is_needed_for_recovery() -> None:
    assert "--no-wait" in cluster_errors(watch={"job": "a", "resubmit": "ray job submit -- python x.py --no-wait"})
    assert "resubmit" in cluster_errors(watch={"job": "a"}, recover="resume")
    box = cluster(watch={"job": "a", "resubmit": "ray job submit --no-wait -- python x.py"}, recover="resume")
    assert box.watches[0].resubmit[:3] == ("ray", "job", "submit")


def test_a_box_with_a_shell_has_no_jobs_and_no_address() -> None:
    text = "\n".join(errors({"boxes": {"b": {"address": "http://h:1", "watch": {"log": "x", "job": "a"}}}}))
    assert "boxes.b.address" in text
    assert "boxes.b.watch.job" in text
