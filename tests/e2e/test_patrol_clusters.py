"""A patrol and waits at clusters that answer as real ones were captured, and at ill ones. No engine is needed."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests import warm
from tests.box import REPOSITORY
from tests.fake_cluster import DeadTunnel, FakeCluster, case, fake_iris, fake_ray, free_address, taking_ray

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

RUNS, LOGS = "ray_api_job_steps2.json", "ray_api_logs_steps.json"


class Here:
    """A local side: its configuration, memory and commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "XDG_STATE_HOME": str(folder / "state")}
        for name in ("RAY_AUTH_TOKEN", "RAY_API_SERVER_ADDRESS"):
            self.env.pop(name, None)
        self.env["HOME"] = str(folder)  # no token of the user's own
        self.closing: list[Any] = []

    def serve(self, cluster: Any) -> Any:
        self.closing.append(cluster)
        return cluster

    def configure(self, engine: str, address: str, *jobs: str, more: str = "", extra: str = "") -> None:
        watch = ", ".join(f"{{ job = {json.dumps(job)}{extra} }}" for job in jobs)
        text = f'[boxes.c]\nbackend = "{engine}"\naddress = "{address}"\nwatch = [{watch}]\n{more}\n'
        (self.folder / "onbox.toml").write_text(text)

    def command(self, package: str, *words: str) -> subprocess.CompletedProcess[str]:
        return warm.run([sys.executable, "-m", package, *words], cwd=self.folder, env=self.env, timeout=90)

    def tick(self) -> dict[str, dict[str, Any]]:
        done = self.command("patrol", "tick", "--json", "c")
        assert done.stdout, done.stderr
        return {one["run"] or "": one for one in json.loads(done.stdout)["runs"]}

    def wait(self, *words: str) -> tuple[int, dict[str, Any]]:
        done = self.command("sentinels", "wait", "--json", *words)
        return done.returncode, json.loads(done.stdout) if done.stdout else {"say": done.stderr}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Here]:
    made = Here(tmp_path)
    yield made
    for cluster in made.closing:
        cluster.close()


def test_every_job_has_its_line(here: Here) -> None:
    pytest.importorskip("jinja2", reason="needs jinja2, of the extra onbox[report]")
    head = here.serve(fake_ray(a=RUNS, a_logs=LOGS, b="ray_api_job_bad.json", b_logs="ray_api_logs_bad.json"))
    here.configure("ray", head.url, "a", "b", "gone")
    said = here.tick()
    assert {name: one["rule"] for name, one in said.items()} == {
        "a": "unconfirmed", "b": "failed-on-engine", "gone": "forgotten",
    }  # fmt: skip
    assert "KeyError" in json.dumps(said["b"])
    assert head.asked.count("/api/version") == 1  # one question for each thing
    assert head.asked.count("/api/jobs/a") == 1
    assert here.command("patrol", "status").stdout.count("c/") == 3
    assert "failed-on-engine" in here.command("patrol", "explain", "c/b").stdout
    report = here.command("patrol", "report", "--html", str(here.folder / "report.html"))
    assert report.returncode == 0, report.stderr
    assert "c/b" in (here.folder / "report.html").read_text()


def test_a_log_that_moves_confirms(here: Here) -> None:
    head = here.serve(fake_ray(a=RUNS, a_logs=LOGS))
    here.configure("ray", head.url, "a")
    assert here.tick()["a"]["rule"] == "unconfirmed"
    logs = json.loads(case(LOGS))
    head.answers["/api/jobs/a/logs"] = (200, json.dumps({"logs": logs["logs"] + "step 300/300 loss 0.39\n"}))
    assert here.tick()["a"]["rule"] == "healthy"


def test_iris_waits_fails_and_is_done(here: Here) -> None:
    files = {f"/root/{job}": f"iris_rpc_GetJobStatus_{job}.json" for job in ("steps", "bad", "huge")}
    controller = here.serve(fake_iris(files))
    here.configure("iris", controller.url, *files)
    said = here.tick()
    assert {name: one["rule"] for name, one in said.items()} == {
        "steps": "done", "bad": "failed-on-engine", "huge": "capacity-long",
    }  # fmt: skip
    assert "PENDING (Scheduler: " in said["huge"]["say"]
    assert "Unsatisfied" in json.dumps(said["huge"])


@pytest.mark.parametrize(
    ("engine", "ill"),
    [("ray", ill) for ill in ("nobody", "tunnel", "hangs", "garbled", "error", "token")]
    + [("iris", ill) for ill in ("garbled", "token")],
)
def test_an_ill_cluster_is_could_not_look(here: Here, engine: str, ill: str) -> None:
    """Each in its own words, with an exit code of unknown, and never a word of death."""
    job, address, reason = ("/u/j" if engine == "iris" else "j"), "", ill
    if ill == "nobody":
        address, reason = free_address(), "tunnel"
    elif ill == "tunnel":
        address, reason = here.serve(DeadTunnel()).url, "engine_down"
    else:
        text = {"garbled": (200, '{"status": "o'), "error": (502, "Bad Gateway"), "token": (403, "Forbidden")}
        cluster = FakeCluster({"/api/version": text.get(ill, (200, "{}")), "/health": text.get(ill, (200, "{}"))})
        if ill == "hangs":
            cluster.hangs.set()
        address, reason = here.serve(cluster).url, {"hangs": "engine_late"}.get(ill, f"engine_{ill}")
    here.configure(engine, address, job)
    done = here.command("patrol", "tick", "c")
    assert done.returncode == 3
    assert f"{reason}: " in done.stdout
    assert "DEAD" not in done.stdout.upper()
    assert "failed" not in done.stdout.splitlines()[0].lower()
    code, data = here.wait(f"c:{job}", "--timeout", "2s")
    assert (code, data["outcome"]) == (69, "unreachable")
    assert "nothing is known" in data["say"]


def test_what_was_known_is_told_while_it_cannot_be_seen(here: Here) -> None:
    head = here.serve(fake_ray(a=RUNS, a_logs=LOGS))
    here.configure("ray", head.url, "a")
    here.tick()
    head.hangs.set()
    said = here.tick()["a"]
    assert (said["rule"], said["state"]) == ("unreachable", "unknown")
    assert "running" in said["last_known"]


def test_a_head_that_lost_the_job(here: Here) -> None:
    head = here.serve(fake_ray(a=RUNS, a_logs=LOGS))
    here.configure("ray", head.url, "a")
    here.tick()
    del head.answers["/api/jobs/a"]
    head.answers["/api/version"] = (200, json.dumps({"ray_version": "2.60.0", "session_name": "session_2"}))
    said = here.tick()["a"]
    assert (said["rule"], said["state"]) == ("forgotten", "unknown")
    assert "may live on" in said["say"]
    code, data = here.wait("c:a", "--interval", "1s", "--timeout", "60s")  # the patrol has seen it, this wait never did
    assert (code, data["outcome"]) == (69, "unreachable")
    assert "restarted" in data["say"]


@pytest.mark.parametrize("file", ["ray_api_job_unknown_state.json", "ray_api_job_cut_off.txt"])
def test_an_answer_that_means_nothing_is_could_not_look(here: Here, file: str) -> None:
    here.configure("ray", here.serve(fake_ray(a=file)).url, "a")
    assert here.tick()["a"]["rule"] == "could-not-look"


def test_the_token_is_shown_to_the_head_and_to_nobody_else(here: Here) -> None:
    head = here.serve(fake_ray(a=RUNS, a_logs=LOGS))
    head.token = "s3cret-of-the-head"
    (here.folder / "token").write_text(head.token)
    here.configure("ray", head.url, "a", more='token = "file:token-that-is-not-there"')
    missing = here.command("patrol", "tick", "c")
    assert "engine_token" in missing.stdout
    here.configure("ray", head.url, "a", more=f'token = "file:{here.folder}/token"')
    seen = here.command("patrol", "tick", "c")
    assert "RUNNING" in seen.stdout
    state = here.folder / "state"
    kept = b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file())
    assert head.token.encode() not in kept
    assert head.token not in seen.stdout + seen.stderr


def test_a_hanging_cluster_delays_no_box(here: Here) -> None:
    head = here.serve(fake_ray())
    head.hangs.set()
    project = here.folder / "p"
    project.mkdir()
    here.configure("ray", head.url, "a", more=f'[boxes.b]\nbackend = "local"\nproject = "{project}"')
    lines = here.command("patrol", "tick", "--quiet").stdout.splitlines()
    assert [line.split()[1] for line in lines if line] == ["b", "c"]  # the quick one first


def test_a_short_name_is_refused_here_with_the_remedy(here: Here) -> None:
    here.configure("iris", "http://127.0.0.1:1", "train1")
    done = here.command("patrol", "tick")
    assert done.returncode == 78
    assert "/USER/JOB" in done.stderr
    here.configure("iris", "http://127.0.0.1:1", "/ada/train1")
    code, data = here.wait("c:train2", "--timeout", "1s")
    assert code == 64
    assert "/USER/JOB" in data["say"]


def test_a_wait_ends_with_the_jobs_end(here: Here) -> None:
    head = here.serve(fake_ray(a="ray_api_job_steps.json", b="ray_api_job_bad.json", b_logs="ray_api_logs_bad.json"))
    head.answers["/api/jobs/c"] = (200, case("ray_api_job_steps2_stopped.json"))
    here.configure("ray", head.url, "a")
    assert here.wait("c:a")[0] == 0
    code, data = here.wait("c:b")
    assert (code, data["detail"]["failure_class"]) == (1, "code_error")
    assert here.wait("c:c")[1]["outcome"] == "stopped"


def test_a_wait_hears_of_an_end_that_comes_later(here: Here) -> None:
    head = here.serve(fake_ray(a=RUNS))
    answers = iter([case(RUNS), case(RUNS)])
    head.answers["/api/jobs/a"] = lambda _: (200, next(answers, case("ray_api_job_steps.json")))
    here.configure("ray", head.url, "a")
    assert here.wait("c:a", "--interval", "1s", "--timeout", "60s")[0] == 0
    assert head.asked.count("/api/jobs/a") == 3


def test_a_wait_for_a_lost_job_never_says_gone(here: Here) -> None:
    head = here.serve(fake_ray())
    answers = iter([(200, case(RUNS))])
    head.answers["/api/jobs/a"] = lambda _: next(answers, (404, "Job a does not exist"))
    here.configure("ray", head.url, "a")
    code, data = here.wait("c:a", "--interval", "1s", "--timeout", "60s")
    assert (code, data["outcome"]) == (69, "unreachable")
    assert "not known" in data["say"]


def test_add_writes_the_cluster_and_looks(here: Here) -> None:
    head = here.serve(fake_ray(a=RUNS, a_logs=LOGS))
    (here.folder / "onbox.toml").write_text("")
    short = here.command("patrol", "add", head.url, "--backend", "iris", "--job", "a")
    assert (short.returncode, "/USER/JOB" in short.stderr) == (64, True)
    done = here.command("patrol", "add", head.url, "--name", "c", "--backend", "ray", "--job", "a")
    assert "c/a RUNNING" in done.stdout, done.stderr
    assert here.tick()["a"]["state"] == "running"
    again = here.command("patrol", "add", head.url, "--name", "c", "--backend", "ray", "--job", "a")
    assert again.returncode == 64


def test_check_says_what_is_in_the_way(here: Here) -> None:
    head = here.serve(fake_ray(a=RUNS, a_logs=LOGS))
    here.configure("ray", head.url, "a", "typo")
    found = here.command("patrol", "check")
    assert found.returncode == 2
    assert "is the id right?" in found.stdout
    here.configure("ray", head.url, "a")
    assert here.command("patrol", "check").returncode == 0
    head.token = "t"
    refused = here.command("patrol", "check")
    assert (refused.returncode, "refused the token" in refused.stdout) == (2, True)


def resubmits(here: Here, *, prints: str = "Job 'a2' submitted successfully") -> Any:
    """A cluster whose job `a` was lost with its node, and a command that submits it anew; it notes its calls."""
    head = here.serve(fake_ray(a="ray_api_job_node_lost.json", a2=RUNS, a2_logs=LOGS))
    script = here.folder / "again.sh"
    script.write_text(f'echo called >>"{here.folder}/calls"\necho "{prints}"\n')
    again = f', resubmit = "sh {script} --no-wait"'
    here.configure("ray", head.url, "a", more='recover = "resume"', extra=again)
    return head


def calls(here: Here) -> int:
    path = here.folder / "calls"
    return len(path.read_text().split()) if path.exists() else 0


def test_a_lost_job_is_submitted_anew_once_and_then_looked_at(here: Here) -> None:
    resubmits(here)
    said = here.tick()["a"]
    assert "submitted again as a2 (restart 1)" in said["line"]
    assert calls(here) == 1
    after = here.tick()["a"]
    assert (after["state"], calls(here)) == ("running", 1)
    assert here.command("patrol", "history", "--acts").stdout.count("resume") >= 1
    head = here.closing[0]
    head.answers["/api/jobs/a2"] = (200, case("ray_api_job_steps.json"))
    assert here.wait("c:a")[0] == 0  # the wait is for what replaced it


def test_nothing_is_submitted_beside_a_job_that_lives(here: Here) -> None:
    """It was over at both looks, and lives at the last question before the submission."""
    head = resubmits(here)
    lost, asked = case("ray_api_job_node_lost.json"), []

    def answer(_: bytes) -> tuple[int, str]:
        asked.append(1)
        return 200, lost if len(asked) < 3 else case(RUNS)

    head.answers["/api/jobs/a"] = answer
    assert "is RUNNING" in here.tick()["a"]["line"]
    assert calls(here) == 0


def test_nothing_is_submitted_where_the_end_cannot_be_seen(here: Here) -> None:
    head = resubmits(here)
    lost, asked = case("ray_api_job_node_lost.json"), []

    def answer(_: bytes) -> tuple[int, str]:
        asked.append(1)
        return (200, lost) if len(asked) < 3 else (502, "Bad Gateway")

    head.answers["/api/jobs/a"] = answer
    assert "could not be seen" in here.tick()["a"]["line"]
    here.tick()
    assert calls(here) == 0


def test_a_submission_whose_id_is_not_known_is_never_repeated(here: Here) -> None:
    resubmits(here, prints="it may have worked")
    assert "not resubmitted (unknown)" in here.tick()["a"]["line"]
    assert "before" in here.tick()["a"]["line"]
    assert calls(here) == 1


def test_what_a_person_stopped_or_code_broke_is_left_alone(here: Here) -> None:
    head = resubmits(here)
    head.answers["/api/jobs/a"] = (200, case("ray_api_job_steps2_stopped.json"))
    here.tick()
    head.answers["/api/jobs/a"] = (200, case("ray_api_job_bad.json"))
    head.answers["/api/jobs/a/logs"] = (200, case("ray_api_logs_bad.json"))
    here.tick()
    assert calls(here) == 0


def test_a_command_that_would_wait_for_the_job_is_refused(here: Here) -> None:
    here.configure(
        "ray", "http://127.0.0.1:1", "a", more='recover = "resume"', extra=', resubmit = "ray job submit -- x"'
    )
    done = here.command("patrol", "tick")
    assert (done.returncode, "--no-wait" in done.stderr) == (78, True)
    here.configure("ray", "http://127.0.0.1:1", "a", more='recover = "resume"')
    assert "resubmit" in here.command("patrol", "tick").stderr


# -- runs of onbox that were handed to Ray


def hand_over(here: Here, *, project: str = "") -> tuple[FakeCluster, str]:
    """The head that took the chain, and the path of its job."""
    head: FakeCluster = here.serve(taking_ray())
    elsewhere = f'project = "{project}"\n' if project else ""
    (here.folder / "onbox.toml").write_text(
        f'[run]\nname = "digits"\nbackend = "ray"\n[ray]\naddress = "{head.url}"\n{elsewhere}'
        f'[stages.train]\ncmd = "true"\n[boxes.c]\nbackend = "local"\nproject = "{here.folder}"\n'
    )
    done = here.command("onbox", "chain", "-d", "--launch-check", "0")
    assert done.returncode == 0, done.stderr
    (path,) = [path for path in head.answers if path.startswith("/api/jobs/") and path != "/api/jobs/"]
    return head, path


def said_of(path: str, file: str) -> tuple[int, str]:
    return 200, json.dumps({**json.loads(case(file)), "submission_id": path.rpartition("/")[2]})


def test_a_run_that_was_handed_over_is_asked_for_at_the_first_look(here: Here) -> None:
    head, path = hand_over(here)
    said = here.tick()["digits"]
    assert (said["rule"], said["state"]) == ("unconfirmed", "running"), said["line"]
    head.answers[path] = said_of(path, "ray_api_job_need-gpu.json")
    assert here.tick()["digits"]["rule"] == "capacity-long"  # its captured submission is old
    head.hangs.set()
    said = here.tick()["digits"]
    assert (said["rule"], said["state"]) == ("could-not-look", "unknown")
    head.hangs.clear()
    head.answers[path] = said_of(path, "ray_api_job_steps.json")
    said = here.tick()["digits"]
    assert (said["rule"], said["state"]) == ("failed-on-engine", "failed")
    assert "no marker" in said["say"]


def test_a_head_that_was_restarted_has_lost_the_run(here: Here) -> None:
    head, path = hand_over(here)
    here.tick()
    del head.answers[path]
    head.answers["/api/version"] = (200, json.dumps({"ray_version": "2.60.0", "session_name": "session_2"}))
    said = here.tick()["digits"]
    assert (said["rule"], said["state"]) == ("forgotten", "unknown")
    code, data = here.wait("c:digits", "--timeout", "12s", "--interval", "1s")
    assert (code, data["outcome"]) == (124, "timed-out")


def test_a_run_on_another_disk_is_done_by_the_heads_word(here: Here) -> None:
    head, path = hand_over(here, project="/mnt/shared/digits")
    head.answers[f"{path}/logs"] = (200, case(LOGS))
    assert here.tick()["digits"]["state"] == "running"
    head.answers[path] = said_of(path, "ray_api_job_bad.json")
    head.answers[f"{path}/logs"] = (200, case("ray_api_logs_bad.json"))
    code, data = here.wait("c:digits", "--timeout", "60s", "--interval", "1s")
    assert (code, data["detail"]["failure_class"]) == (1, "code_error")
    head.answers[path] = said_of(path, "ray_api_job_steps.json")
    assert here.wait("c:digits", "--timeout", "60s")[0] == 0
    assert here.tick()["digits"]["rule"] == "done"
    head.hangs.set()
    assert here.tick()["digits"]["rule"] == "done"  # an end that was heard is not asked for again
