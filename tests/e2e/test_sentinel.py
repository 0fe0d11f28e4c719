"""Waiting over a real sshd: every trouble between here and the box, and what the wait says of it."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from onbox.system.process import ProcessEntry, process_table
from tests.box import is_running, wait_until
from tests.sentinels.waiter import SENTINEL, Waiters, land
from tests.sshd import Hole, Link, Sshd, descendants, need_sshd

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGINES = ("python", "sh")


@pytest.fixture(params=ENGINES)
def waiters(request: pytest.FixtureRequest, tmp_path: Path, sshd: Sshd) -> Iterator[Waiters]:
    """A user on whose box a python looks, and one on whose box only a shell does."""
    made = Waiters(tmp_path, sshd.ssh(), engine=request.param)
    yield made
    made.close()


@pytest.fixture
def one_waiter(tmp_path: Path, sshd: Sshd) -> Iterator[Waiters]:
    """For what has nothing to do with the program on the box."""
    made = Waiters(tmp_path, sshd.ssh())
    yield made
    made.close()


def marker_of(path: Path) -> str:
    return f"gpu1:{path / 'DONE'}"


def lookouts(sshd: Sshd) -> list[ProcessEntry]:
    """The live programs of waits on the box: what runs below sshd's sessions, without sshd itself."""
    return [entry for entry in sshd.sessions() if not entry.name.startswith("sshd")]


def looks(entry: ProcessEntry) -> bool:
    """Whether it is the program itself: by its environment, or a pause of it in a shell that has to start one."""
    with suppress(OSError):
        return entry.name == "sleep" or b"SENTINEL_" in Path(f"/proc/{entry.identity.pid}/environ").read_bytes()
    return False


def wait_for_lookout(sshd: Sshd, waiters: Waiters) -> None:
    """Until a wait's program on the box has started, and has looked at everything once."""
    wait_until(lambda: any(map(looks, lookouts(sshd))), "the program on the box")
    waiters.wait_for_look()


# -- the plain case


def test_a_marker_on_a_box_lands(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    waiter = waiters.start("wait", marker_of(tmp_path), "--json", "--timeout", "2m")
    wait_for_lookout(sshd, waiters)
    land(tmp_path / "DONE")
    end = waiters.end(waiter)
    assert (end["outcome"], end["boxes"][0]["connections"]) == ("landed", 1)
    wait_until(lambda: not sshd.sessions(), "nothing to be left on the box")


def test_a_fail_marker_ends_it_as_failed(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    words = ("--fail", f"gpu1:{tmp_path}/FAILED", "--json", "--timeout", "2m")
    waiter = waiters.start("wait", marker_of(tmp_path), *words)
    wait_for_lookout(sshd, waiters)
    land(tmp_path / "FAILED", "loss is NaN\n")
    end = waiters.end(waiter)
    assert (end["outcome"], waiter.returncode) == ("failed", 1)
    assert "loss is NaN" in end["say"]


def test_a_killed_process_is_told_as_gone(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    job = subprocess.Popen(["sleep", "300"])
    waiter = waiters.start("wait", marker_of(tmp_path), "--pid", f"gpu1:{job.pid}", "--json", "--timeout", "2m")
    wait_for_lookout(sshd, waiters)
    job.kill()
    job.wait()
    assert (waiters.end(waiter)["outcome"], waiter.returncode) == ("gone", 3)


def test_a_marker_wins_over_the_end_of_its_process(sshd: Sshd, one_waiter: Waiters, tmp_path: Path) -> None:
    line = f"sleep 1.5; touch {tmp_path}/DONE"
    with subprocess.Popen(["sh", "-c", line]) as job:
        words = ("--pid", f"gpu1:{job.pid}", "--timeout", "2m")
        assert one_waiter.run("wait", marker_of(tmp_path), *words).returncode == 0


def test_nothing_is_told_as_timed_out_within_the_limit(sshd: Sshd, one_waiter: Waiters, tmp_path: Path) -> None:
    ended = one_waiter.run("wait", marker_of(tmp_path), "--timeout", "12s")
    assert ended.returncode == 124
    assert ended.stdout.startswith("timed-out gpu1:")


# -- no stale success


def test_an_old_marker_does_not_fire_and_a_new_one_does(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    land(tmp_path / "DONE", "run=1")
    waiter = waiters.start("wait", marker_of(tmp_path), "--new-only", "--json", "--timeout", "2m")
    wait_for_lookout(sshd, waiters)
    assert waiter.poll() is None
    land(tmp_path / "DONE", "run=2")
    assert waiters.end(waiter)["outcome"] == "landed"
    assert waiters.run("wait", marker_of(tmp_path)).returncode == 0


def test_an_old_line_does_not_fire_and_a_new_one_does(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("QUEUE DONE\n")
    words = ("--log", f"gpu1:{log}", "--new-only", "--json", "--timeout", "2m")
    waiter = waiters.start("wait", *words)
    wait_for_lookout(sshd, waiters)
    assert waiter.poll() is None
    with log.open("a") as file:
        file.write("step 7\nTraining completed\n")
    end = waiters.end(waiter)
    assert (end["outcome"], end["detail"]["line"]) == ("landed", "Training completed")


# -- trouble with the link


def test_a_killed_session_is_replaced(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    waiter = waiters.start("wait", marker_of(tmp_path), "--json", "--timeout", "2m")
    wait_for_lookout(sshd, waiters)
    sshd.kill_sessions()
    wait_until(lambda: sshd.logins() > 1, "a second login")
    wait_for_lookout(sshd, waiters)
    land(tmp_path / "DONE")
    end = waiters.end(waiter)
    assert (end["outcome"], end["boxes"][0]["drops"]) == ("landed", 1)


def test_what_lands_while_sshd_is_down_is_seen_on_return(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    waiter = waiters.start("wait", marker_of(tmp_path), "--json", "--timeout", "2m")
    wait_for_lookout(sshd, waiters)
    sshd.close()
    land(tmp_path / "DONE")
    time.sleep(3)  # the outage itself
    assert waiter.poll() is None
    sshd.start()
    assert waiters.end(waiter)["outcome"] == "landed"


def test_a_line_that_came_while_the_link_was_down_counts(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 1\n")
    waiter = waiters.start("wait", "--log", f"gpu1:{log}", "--regex", "DONE", "--json", "--timeout", "2m")
    wait_for_lookout(sshd, waiters)
    waiters.wait_for_look("memory")  # the place in the log, too
    sshd.close()
    with log.open("a") as file:
        file.write("DONE\n")
    log.rename(tmp_path / "train.log.1")  # and rotated away at that
    log.write_text("step 2\n")
    sshd.start()
    assert waiters.end(waiter)["outcome"] == "landed"


def test_a_frozen_remote_shell_is_left_for_a_new_one(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    waiter = waiters.start("wait", marker_of(tmp_path), "--json", "--timeout", "2m")
    wait_for_lookout(sshd, waiters)
    frozen = [entry.identity.pid for entry in lookouts(sshd)]
    for pid in frozen:
        with suppress(ProcessLookupError):  # a pause of the shell's, which has ended since
            os.kill(pid, signal.SIGSTOP)
    land(tmp_path / "DONE")
    end = waiters.end(waiter)
    assert (end["outcome"], end["boxes"][0]["drops"]) == ("landed", 1)
    for pid in frozen:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    wait_until(lambda: not lookouts(sshd), "the new program to be gone")
    wait_until(lambda: not any(map(is_running, frozen)), "what was frozen to end once it may go on")


def test_a_half_open_link_is_noticed(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    """The old connection swallows everything and ends nowhere; new connections work."""
    link = Link(sshd.port)
    waiters.env["ONBOX_SSH_COMMAND"] = " ".join(sshd.ssh({"gpu1": link.port}))
    waiter = waiters.start("wait", marker_of(tmp_path), "--json", "--timeout", "2m")
    wait_for_lookout(sshd, waiters)
    link.frozen.set()
    land(tmp_path / "DONE")
    assert link.swallowed.wait(60), "the old connection swallows what the box says"
    link.frozen.clear()  # new ones are whole
    end = waiters.end(waiter)
    assert (end["outcome"], end["boxes"][0]["drops"]) == ("landed", 1)
    link.close()


def test_a_box_that_stays_away_is_unreachable_not_failed(sshd: Sshd, one_waiter: Waiters, tmp_path: Path) -> None:
    waiter = one_waiter.start("wait", marker_of(tmp_path), "--json", "--timeout", "20s")
    wait_for_lookout(sshd, one_waiter)
    sshd.close()
    end = one_waiter.end(waiter)
    sshd.start()
    assert (end["outcome"], waiter.returncode) == ("unreachable", 69)
    assert end["boxes"][0]["last_contact"] is not None
    assert "refused" in end["boxes"][0]["trouble"]


def test_dropped_packets_end_at_the_limit(one_waiter: Waiters, sshd: Sshd, tmp_path: Path) -> None:
    hole = Hole()
    one_waiter.env["ONBOX_SSH_COMMAND"] = " ".join(sshd.ssh({"gpu1": hole.port}))
    ended = one_waiter.run("wait", marker_of(tmp_path), "--timeout", "4s")
    hole.close()
    assert ended.returncode == 69
    assert "it was never reached" in ended.stdout


def test_a_refused_login_is_told_at_once(one_waiter: Waiters, sshd: Sshd, tmp_path: Path) -> None:
    (sshd.folder / "authorized_keys").write_text("")
    ended = one_waiter.run("wait", marker_of(tmp_path), "--timeout", "10m")
    assert ended.returncode == 69
    assert "Permission denied" in ended.stdout


def test_an_account_without_a_shell_is_told_soon(tmp_path: Path) -> None:
    need_sshd()
    server = Sshd(tmp_path / "ssh", options=["ForceCommand echo no commands here; exit 1"])
    waiters = Waiters(tmp_path, server.ssh())
    ended = waiters.run("wait", marker_of(tmp_path), "--timeout", "10m")
    server.close()
    assert ended.returncode == 69
    assert "no POSIX sh" in ended.stdout


# -- nothing is left


def test_a_killed_waiter_leaves_nothing_on_the_box(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    waiter = waiters.start("wait", marker_of(tmp_path), "--timeout", "10m")
    wait_for_lookout(sshd, waiters)
    waiter.kill()
    waiter.wait()
    wait_until(lambda: not sshd.sessions(), "nothing to be left on the box")


@pytest.mark.long
def test_a_cut_link_leaves_nothing_on_the_box(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    """No packet tells the box that anything ended: its program hears nothing any more, and ends by itself."""
    link = Link(sshd.port)
    waiters.env["ONBOX_SSH_COMMAND"] = " ".join(sshd.ssh({"gpu1": link.port}))
    waiter = waiters.start("wait", marker_of(tmp_path), "--timeout", "10m")
    wait_for_lookout(sshd, waiters)
    link.frozen.set()
    waiter.kill()
    waiter.wait()
    wait_until(lambda: not lookouts(sshd), "nothing to be left on the box")
    link.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_with_everything(sshd: Sshd, one_waiter: Waiters, tmp_path: Path, number: int) -> None:
    waiter = one_waiter.start("wait", marker_of(tmp_path), "--timeout", "10m")
    wait_for_lookout(sshd, one_waiter)
    children = descendants(waiter.pid)
    waiter.send_signal(number)
    assert waiter.wait(60) == -number
    assert children
    assert not [entry for entry in children if is_running(entry.identity.pid)]
    wait_until(lambda: not sshd.sessions(), "nothing to be left on the box")
    assert one_waiter.run("list").stdout == "nothing waits\n"


# -- many, and two


def test_many_markers_on_one_box_share_one_connection(sshd: Sshd, one_waiter: Waiters, tmp_path: Path) -> None:
    names = [f"gpu1:{tmp_path}/M{number}" for number in range(40)]
    waiter = one_waiter.start("wait", *names, "--json", "--timeout", "2m")
    wait_for_lookout(sshd, one_waiter)
    for number in range(40):
        assert waiter.poll() is None
        land(tmp_path / f"M{number}")
    end = one_waiter.end(waiter)
    assert (end["outcome"], sshd.logins()) == ("landed", 1)
    assert [row["outcome"] for row in end["targets"]] == ["landed"] * 40


def test_any_ends_with_the_first(sshd: Sshd, one_waiter: Waiters, tmp_path: Path) -> None:
    words = (f"gpu1:{tmp_path}/A", f"gpu2:{tmp_path}/B", "--any", "--json", "--timeout", "2m")
    waiter = one_waiter.start("wait", *words)
    wait_until(lambda: sshd.logins() == 2, "both boxes to be reached")
    land(tmp_path / "B")
    assert one_waiter.end(waiter)["target"] == words[1]


def test_a_box_that_refuses_us_keeps_no_other_from_landing(one_waiter: Waiters, sshd: Sshd, tmp_path: Path) -> None:
    one_waiter.env["ONBOX_SSH_COMMAND"] = shlex.join(sshd.ssh(extra="Host gpu2\n  User no-such-account"))
    targets = (f"gpu2:{tmp_path}/A", f"gpu1:{tmp_path}/B")
    waiter = one_waiter.start("wait", *targets, "--any", "--json", "--timeout", "2m")
    wait_until(lambda: "Invalid user" in sshd.log, "the login to be refused")
    wait_for_lookout(sshd, one_waiter)
    land(tmp_path / "B")
    end = one_waiter.end(waiter)
    assert (end["target"], waiter.returncode) == (targets[1], 0)
    assert [row["outcome"] for row in end["targets"]] == ["unreachable", "landed"]
    assert [row["in_sight"] for row in end["boxes"]] == [False, True]
    assert one_waiter.run("wait", *targets, "--all", "--timeout", "2m").returncode == 69  # they cannot all land


def test_no_process_is_told_as_gone_while_the_markers_box_is_out_of_sight(
    one_waiter: Waiters, sshd: Sshd, tmp_path: Path
) -> None:
    """ "No marker landed" can only be said of a box that was looked at."""
    nobody = Link(None, "closing")
    one_waiter.env["ONBOX_SSH_COMMAND"] = shlex.join(sshd.ssh({"gpu2": nobody.port}))
    with subprocess.Popen(["true"]) as job:
        pass
    ended = one_waiter.run("wait", f"gpu2:{tmp_path}/DONE", "--pid", f"gpu1:{job.pid}", "--timeout", "5s")
    nobody.close()
    assert ended.returncode == 69, ended.stdout


def test_a_hundred_waiters_at_once_all_get_through(tmp_path: Path) -> None:
    """MaxStartups drops logins at random from the tenth on that has not ended."""
    need_sshd()
    server = Sshd(tmp_path / "ssh", options=["MaxStartups 10:30:100"])
    waiters = Waiters(tmp_path, server.ssh())
    number_of_waiters = 100 if (os.cpu_count() or 1) > 4 else 20
    started = [
        waiters.start("wait", f"gpu1:{tmp_path}/{number}/DONE", "--timeout", "3m")
        for number in range(number_of_waiters)
    ]
    folder = tmp_path / "state/onbox/sentinels"
    wait_until(lambda: len(list(folder.glob("*.json"))) == number_of_waiters, "all waits to be armed", 120)
    for number in range(number_of_waiters):
        (tmp_path / str(number)).mkdir()
        land(tmp_path / str(number) / "DONE")
    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda waiter: waiter.wait(180), started))
    waiters.close()
    server.close()
    assert codes == [0] * number_of_waiters


def test_a_new_waiter_supersedes_the_old_one(sshd: Sshd, one_waiter: Waiters, tmp_path: Path) -> None:
    old = one_waiter.start("wait", marker_of(tmp_path), "--json", "--timeout", "10m")
    wait_for_lookout(sshd, one_waiter)
    new = one_waiter.start("wait", marker_of(tmp_path), "--json", "--timeout", "10m")
    end = one_waiter.end(old)
    assert (end["outcome"], old.returncode) == ("superseded", 75)
    land(tmp_path / "DONE")
    assert one_waiter.end(new)["outcome"] == "landed"


# -- circumstances


def test_the_callers_stdin_is_not_eaten(sshd: Sshd, one_waiter: Waiters, tmp_path: Path) -> None:
    line = " ".join([*SENTINEL, "wait", marker_of(tmp_path), "--timeout", "1s"])
    shell = f"{line} >/dev/null; cat"
    done = subprocess.run(
        ["sh", "-c", shell],
        input="a\nb\n",
        capture_output=True,
        text=True,
        env=one_waiter.env,
        cwd=tmp_path,
        check=False,
    )
    assert done.stdout == "a\nb\n"


def test_it_works_without_an_environment_or_open_streams(sshd: Sshd, tmp_path: Path) -> None:
    """As under cron, with everything closed and a home that cannot be written."""
    land(tmp_path / "DONE")
    ssh = " ".join(sshd.ssh())
    line = f"exec {sys.executable} -m sentinels wait {marker_of(tmp_path)} --timeout 60s <&- >&- 2>&-"
    env = {"PATH": "/usr/bin:/bin", "HOME": "/proc", "ONBOX_SSH_COMMAND": ssh, "PYTHONPATH": os.getcwd()}
    done = subprocess.run(["sh", "-c", line], env=env, cwd=tmp_path, check=False, timeout=60, start_new_session=True)
    assert done.returncode == 0


def test_hostile_paths_are_only_paths(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    folder = tmp_path / "a b'c\"$(touch pwned)`x`\n-n;*"
    folder.mkdir()
    waiter = waiters.start("wait", f"gpu1:{folder}/DONE", "--timeout", "2m")
    wait_for_lookout(sshd, waiters)
    land(folder / "DONE")
    out, _ = waiter.communicate(timeout=60)
    assert (waiter.returncode, out.count("\n")) == (0, 1)
    assert not list(tmp_path.rglob("pwned"))


def test_short_connections_where_held_ones_are_forbidden(sshd: Sshd, waiters: Waiters, tmp_path: Path) -> None:
    waiter = waiters.start("wait", marker_of(tmp_path), "--interval", "1s", "--json", "--timeout", "2m")
    wait_until(lambda: sshd.logins() >= 2 and not sshd.sessions(), "two short connections")
    land(tmp_path / "DONE")
    assert waiters.end(waiter)["outcome"] == "landed"


def test_a_busybox_box_is_enough(tmp_path: Path) -> None:
    need_sshd()
    busybox = shutil.which("busybox")
    if busybox is None:
        pytest.skip("needs busybox")
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in "sh sleep stat date od tr head tail cat sed wc grep cut ls printf sort cksum kill env rm flock".split():
        (folder / name).symlink_to(busybox)
    server = Sshd(tmp_path / "ssh", shell=f"exec env PATH={folder} SENTINEL=1 {busybox} sh -c")
    waiters = Waiters(tmp_path, server.ssh(), engine="sh")
    log = tmp_path / "log"
    log.write_text("DONE\n")
    waiter = waiters.start(
        "wait", marker_of(tmp_path), "--log", f"gpu1:{log}", "--regex", r"DONE \d", "--timeout", "2m"
    )
    wait_until(lambda: any(entry.name in {"sh", "busybox"} for entry in lookouts(server)), "the program on the box")
    time.sleep(1.5)
    land(tmp_path / "DONE")
    with log.open("a") as file:
        file.write("DONE 7\n")
    code = waiter.wait(60)
    waiters.close()
    wait_until(lambda: not server.sessions(), "nothing to be left on the box")
    server.close()
    assert code == 0


def test_a_box_without_python_is_waited_for_by_its_shell(sshd: Sshd, tmp_path: Path) -> None:
    waiters = Waiters(tmp_path, sshd.ssh(), engine="sh")
    first, killed = (waiters.start("wait", f"gpu1:{tmp_path / name}", "--timeout", "2m") for name in ("DONE", "NEVER"))
    wait_until(lambda: sum(entry.name == "sleep" for entry in lookouts(sshd)) == 2, "both programs on the box")
    land(tmp_path / "DONE")
    assert first.wait(60) == 0
    killed.kill()
    wait_until(lambda: not sshd.sessions(), "nothing to be left on the box")
    waiters.close()


def test_processes_here_are_all_gone_after_a_wait(sshd: Sshd, one_waiter: Waiters, tmp_path: Path) -> None:
    one_waiter.run("wait", marker_of(tmp_path), "--timeout", "1s")
    clients = [entry for entry in process_table() if entry.name == "ssh"]
    assert not [one for one in clients if str(sshd.folder) in words_of(one.identity.pid)]


def words_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""
