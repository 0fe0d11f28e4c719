"""The metrics in a real Prometheus, through a real node_exporter, and the plugin in a real Nagios."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tests.box import REPOSITORY, wait_until
from tests.patrolled import PATROL
from tests.ports import free_port
from tests.test_examples import dashboard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.box import Box

PROGRAMS = ("promtool", "prometheus", "prometheus-node-exporter", "/usr/sbin/nagios4")
MISSING = [program for program in PROGRAMS if shutil.which(program) is None]
EXAMPLES = REPOSITORY / "examples/prometheus"
FAILS = "echo step 5/100 loss 1.5; echo 'OSError: [Errno 28] No space left on device'; exit 1"
# https://www.monitoring-plugins.org/doc/guidelines.html#AEN201
PERFORMANCE = re.compile(r"'(?:[^'=]|'')+'=-?[\d.]+(?:s|%|B|c)?;[\d.:~@]*;[\d.:~@]*;-?[\d.]*;-?[\d.]*")

pytestmark = [
    pytest.mark.skipif(not os.environ.get("ONBOX_TEST_MONITORS"), reason="scripts/test --engines runs it"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]


class Programs:
    """Started here, ended here, each on its own port of the loopback."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *words: object, **more: str) -> None:
        with (self.folder / f"{len(self.started)}.log").open("wb") as log:
            self.started.append(
                subprocess.Popen(
                    [str(word) for word in words],
                    cwd=self.folder,
                    env={**os.environ, **more},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )

    def said(self) -> str:
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log")))

    def close(self) -> None:
        for one in self.started:
            one.terminate()
        for one in self.started:
            one.wait(60)


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    folder = tmp_path / "programs"
    folder.mkdir()
    made = Programs(folder)
    yield made
    made.close()


@pytest.fixture
def local(box: Box) -> Path:
    """The local side of a run that has failed; its metrics go to metrics/patrol.prom."""
    assert box.onbox("chain", "--run", "digits", f"train={FAILS}").returncode == 1
    folder = box.project / "local"
    (folder / "metrics").mkdir(parents=True)
    (folder / "onbox.toml").write_text(
        f'[patrol]\ntextfile = "metrics/patrol.prom"\n[boxes.here]\nbackend = "local"\nproject = "{box.project}"\n'
    )
    assert patrol(folder, "tick").returncode == 2
    return folder


def patrol(local: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PATROL, *words], cwd=local, env=environment(local), capture_output=True, text=True, timeout=60, check=False
    )


def environment(local: Path) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(local / "state"), "PYTHONPATH": str(REPOSITORY)}


def test_promtool_has_nothing_against_the_metrics(local: Path, box: Box) -> None:
    stats = box.onbox("stats", "--prometheus").stdout
    for text in ((local / "metrics/patrol.prom").read_text(), stats):
        checked = subprocess.run(
            ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60, check=False
        )
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", ""), text


def test_prometheus_scrapes_them_and_the_alert_fires(local: Path, box: Box, programs: Programs) -> None:
    (local / "metrics/onbox.prom").write_text(box.onbox("stats", "--prometheus").stdout)
    exporter, port = free_port(), free_port()
    programs.start(
        "prometheus-node-exporter",
        "--collector.disable-defaults",
        "--collector.textfile",
        f"--collector.textfile.directory={local / 'metrics'}",
        f"--web.listen-address=127.0.0.1:{exporter}",
    )
    shutil.copy(EXAMPLES / "alerts.yml", programs.folder)
    example = (EXAMPLES / "prometheus.yml").read_text()
    fast = "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
    (programs.folder / "prometheus.yml").write_text(fast + example.replace("localhost:9100", f"127.0.0.1:{exporter}"))
    data = programs.folder / "data"
    programs.start(
        "prometheus",
        "--config.file=prometheus.yml",
        f"--storage.tsdb.path={data}",
        f"--web.listen-address=127.0.0.1:{port}",
    )

    def ask(expression: str) -> list[dict[str, Any]]:
        query = urlencode({"query": expression})
        try:
            with urlopen(f"http://127.0.0.1:{port}/api/v1/query?{query}", timeout=10) as answer:
                found = json.load(answer)
        except OSError:  # it begins to listen, or refuses the question
            return []
        result: list[dict[str, Any]] = found["data"]["result"] if found["status"] == "success" else []
        return result

    (severity,) = wait_until(lambda: ask("patrol_run_severity"), programs.said() or "a scrape")
    assert (severity["metric"]["box"], severity["metric"]["run"], severity["value"][1]) == ("here", "digits", "2")
    assert ask("node_textfile_scrape_error")[0]["value"][1] == "0"
    assert ask("onbox_disk_inodes_free")
    (alert,) = wait_until(lambda: ask('ALERTS{alertname="RunNeedsYou",alertstate="firing"}'), "the alert to fire")
    assert (alert["metric"]["run"], alert["metric"]["state"]) == ("digits", "failed")
    assert not ask('ALERTS{alertname="PatrolSilent"}')
    unanswered = [expression for expression in expressions() if not ask(expression)]
    # a run that has failed has no time left, and this machine may have no GPU and no limit of memory
    may_be_silent = ("expected_end", "gpu", "memory_used", "inodes")
    assert [one for one in unanswered if not any(word in one for word in may_be_silent)] == []


def expressions() -> list[str]:
    """What the dashboard asks, with every box and run chosen."""
    asked = [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]
    return [expression.replace("$box", ".*").replace("$run", ".*") for expression in asked]


def test_the_other_alert_fires_when_nobody_patrols(programs: Programs) -> None:
    shutil.copy(EXAMPLES / "alerts.yml", programs.folder)
    series = "{series: patrol_tick_timestamp_seconds, values: '0x200'}"
    fires = "{eval_time: 90m, alertname: PatrolSilent, exp_alerts: [{exp_labels: {severity: warning}}]}"
    silent = "{eval_time: 60m, alertname: PatrolSilent, exp_alerts: []}"
    annotations = ', exp_annotations: {summary: "No patrol tick for more than 75 minutes: nobody looks at the runs"'
    annotations += ', description: "On the machine of the patrol: patrol status"}'
    fires = fires.replace("warning}", "warning}" + annotations)
    (programs.folder / "test.yml").write_text(
        "rule_files: [alerts.yml]\ntests:\n"
        f"  - {{interval: 1m, input_series: [{series}], alert_rule_test: [{silent}, {fires}]}}\n"
    )
    checked = subprocess.run(
        ["promtool", "test", "rules", "test.yml"],
        cwd=programs.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


NAGIOS = """\
cfg_file={folder}/objects.cfg
log_file={folder}/nagios.log
status_file={folder}/status.dat
object_cache_file={folder}/objects.cache
precached_object_file={folder}/objects.precache
resource_file={folder}/resource.cfg
temp_file={folder}/nagios.tmp
temp_path={folder}
lock_file={folder}/nagios.lock
state_retention_file={folder}/retention.dat
check_result_path={folder}/results
command_file={folder}/nagios.cmd
query_socket={folder}/nagios.qh
nagios_user={user}
nagios_group={group}
interval_length=1
status_update_interval=1
process_performance_data=1
enable_notifications=0
check_for_updates=0
"""
OBJECTS = """\
define timeperiod {
  timeperiod_name 24x7
  alias always
  sunday 00:00-24:00
  monday 00:00-24:00
  tuesday 00:00-24:00
  wednesday 00:00-24:00
  thursday 00:00-24:00
  friday 00:00-24:00
  saturday 00:00-24:00
}
define contact {
  contact_name nobody
  host_notification_period 24x7
  service_notification_period 24x7
  host_notification_commands onbox_patrol
  service_notification_commands onbox_patrol
}
define contactgroup {
  contactgroup_name admins
  alias admins
  members nobody
}
define host {
  host_name localhost
  address 127.0.0.1
  max_check_attempts 1
  check_period 24x7
  notification_period 24x7
  contact_groups admins
}
"""


def test_nagios_runs_the_plugin_and_takes_its_performance_data(local: Path, programs: Programs) -> None:
    """The service is the one of examples/nagios; only sudo, which the test cannot have, is left out."""
    folder = programs.folder
    (folder / "results").mkdir()
    (folder / "resource.cfg").touch()
    user, group = os.getuid(), os.getgid()
    (folder / "nagios.cfg").write_text(NAGIOS.format(folder=folder, user=user, group=group))
    example = (REPOSITORY / "examples/nagios/onbox.cfg").read_text()
    before, after = "/usr/bin/sudo -u $ARG1$ /home/$ARG1$/onbox/bin/patrol", f"{sys.executable} -m patrol"
    assert before in example
    example = example.replace(before, after).replace("/home/you/digits", str(local))
    (folder / "objects.cfg").write_text(OBJECTS + re.sub(r"(check_interval) +\d+", r"\1 2", example))
    programs.start("/usr/sbin/nagios4", folder / "nagios.cfg", **environment(local))

    def status() -> dict[str, str]:
        path = folder / "status.dat"
        text = path.read_text() if path.exists() else ""
        found = re.search(r"servicestatus \{(.*?)\n\t\}", text, re.DOTALL)
        return dict(line.strip().partition("=")[::2] for line in found[1].splitlines() if line) if found else {}

    wait_until(lambda: status().get("has_been_checked") == "1", "Nagios to check it", 60)
    seen = status()
    assert seen["current_state"] == "2", programs.said()
    assert seen["plugin_output"].startswith("PATROL CRITICAL - here/digits failed")
    assert "No space left on device" in seen["plugin_output"]
    assert "remedy" in seen["long_plugin_output"]
    data = seen["performance_data"]
    assert "'here/digits progress'=5;;;0;100" in data
    items = PERFORMANCE.findall(data)
    assert " ".join(items) == data
    assert len({item.partition("=")[0] for item in items}) == len(items)
