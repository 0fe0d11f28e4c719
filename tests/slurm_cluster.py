"""A Slurm on loopback for a test: munged, slurmctld and slurmd with directories, key and ports of its own; of more than
one node where that is wanted (each a slurmd of its own), and with accounting (slurmdbd and a database).

Nothing under /etc is read or written, and only what was started here is ended, by its own handle.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.box import wait_until
from tests.ports import free_port

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
DATABASE_PROGRAMS = ("slurmdbd", "sacctmgr", "sacct", "mariadbd", "mariadb-install-db")
PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
BOUND_SECONDS = "900"  # no daemon outlives a test that was killed by more than this


# Tests that wait for Slurm's own long times (a lost node, a time limit in minutes) run only where that is asked for.
takes_long = pytest.mark.skipif("ONBOX_TEST_SLURM" not in os.environ, reason="takes long: scripts/test --engines")


def why_not(*, accounting: bool = False) -> str | None:
    """Why there can be no Slurm here; None if there can."""
    programs = PROGRAMS + (DATABASE_PROGRAMS if accounting else ())
    missing = [name for name in programs if shutil.which(name, path=PLACES) is None]
    if missing:
        packages = "slurmctld, slurmd, slurm-client, munge" + (", slurmdbd, mariadb-server" if accounting else "")
        return f"needs {packages}; missing: {', '.join(missing)}"
    return None if os.geteuid() == 0 else "needs root: slurmd starts jobs as their users"


class SlurmCluster:
    """Nodes `n0`, `n1`, … with the partitions `main` (its jobs are requeued when preempted) and `high`.

    A node that is silent for `node_timeout_seconds` is down; Slurm looks at intervals, so that it takes up to half a
    minute more. extra: further lines of slurm.conf.
    """

    def __init__(
        self,
        *,
        cgroup: bool = False,
        nodes: int = 1,
        accounting: bool = False,
        node_timeout_seconds: int = 30,
        extra: str = "",
    ) -> None:
        self.nodes = tuple(f"n{number}" for number in range(nodes))
        self.accounting, self.node_timeout_seconds, self.extra = accounting, node_timeout_seconds, extra
        self.folder = Path(tempfile.mkdtemp(prefix="onbox-slurm-"))  # short: it holds a socket
        self.conf = self.folder / "slurm.conf"
        self.env = {**os.environ, "SLURM_CONF": str(self.conf), "PATH": PLACES}
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        self.log = (self.folder / "daemons.log").open("wb")
        try:
            self._prepare(cgroup=cgroup)
            self._start()
        except BaseException:
            self.close()
            raise

    def _prepare(self, *, cgroup: bool) -> None:
        self.folder.chmod(0o755)
        for name in ("state", "spool", "run", *(f"spool/{node}" for node in self.nodes)):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        track = "cgroup" if cgroup else "linuxproc"
        task, gather = ("cgroup", "cgroup") if cgroup else ("none", "linux")
        controller, database, *ports = (free_port() for _ in range(2 + len(self.nodes)))
        host = socket.gethostname().partition(".")[0]
        folder, every = self.folder, ",".join(self.nodes)
        self.conf.write_text(
            f"ClusterName=onboxtest\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\n"
            "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n"
            "SlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\nCredType=cred/munge\n"
            # A requeued job waits for as long as its credential lives: two minutes, if this were not set.
            f"AuthInfo=socket={folder}/run/munge.sock,cred_expire=5\n"
            f"StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool/%n\n"
            f"SlurmctldPidFile={folder}/run/slurmctld.pid\nSlurmdPidFile={folder}/run/slurmd.%n.pid\n"
            f"SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd.%n.log\n"
            f"ReturnToService=2\nSlurmdTimeout={self.node_timeout_seconds}\n"
            "MinJobAge=300\nKillWait=5\nMpiDefault=none\nJobRequeue=1\n"
            "SchedulerType=sched/backfill\nSchedulerParameters=sched_interval=2,bf_interval=2\n"
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
            "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
            f"ProctrackType=proctrack/{track}\nTaskPlugin=task/{task}\nJobAcctGatherType=jobacct_gather/{gather}\n"
            + self._accounting(database)
            + self.extra
            + "".join(
                f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={os.cpu_count()} "
                "RealMemory=2000\n"
                for node, port in zip(self.nodes, ports, strict=True)
            )
            + f"PartitionName=main Nodes={every} Default=YES State=UP PriorityTier=1 PreemptMode=REQUEUE\n"
            f"PartitionName=high Nodes={every} State=UP PriorityTier=10 PreemptMode=OFF\n"
        )
        limits = "CgroupAutomount=no\nConstrainRAMSpace=yes\nConstrainSwapSpace=yes\nConstrainCores=no\n"
        (folder / "cgroup.conf").write_text(limits)

    def _accounting(self, port: int) -> str:
        """Lines of slurm.conf; the conf of slurmdbd lies beside it."""
        if not self.accounting:
            return "AccountingStorageType=accounting_storage/none\n"
        folder, conf = self.folder, self.folder / "slurmdbd.conf"
        conf.touch(mode=0o600)
        conf.write_text(
            f"AuthType=auth/munge\nAuthInfo=socket={folder}/run/munge.sock\nSlurmUser=root\n"
            f"DbdHost=localhost\nDbdAddr=127.0.0.1\nDbdPort={port}\nCommunicationParameters=NoInAddrAny\n"
            "StorageType=accounting_storage/mysql\nStorageHost=localhost\nStorageUser=root\nStorageLoc=slurm_acct\n"
            f"LogFile={folder}/slurmdbd.log\nPidFile={folder}/run/slurmdbd.pid\n"
        )
        return (
            "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\n"
            f"AccountingStoragePort={port}\nAccountingStoragePass={folder}/run/munge.sock\n"
        )

    def _start_accounting(self) -> None:
        """A database of its own that is reached by a socket only, and slurmdbd."""
        data, place = self.folder / "database", self.folder / "run" / "database.sock"
        words = ["mariadb-install-db", f"--datadir={data}", "--auth-root-authentication-method=normal"]
        words += ["--skip-test-db", "--user=root"]
        subprocess.run(words, env=self.env, stdout=self.log, stderr=self.log, timeout=60, check=True)
        words = ["--no-defaults", f"--datadir={data}", f"--socket={place}", "--skip-networking", "--user=root"]
        self._daemon("mariadbd", *words, "--innodb-flush-log-at-trx-commit=0", f"--pid-file={data}.pid")
        self.env["MYSQL_UNIX_PORT"] = str(place)
        wait_until(place.exists, "the database to listen")
        self._daemon("slurmdbd", "-D")
        wait_until(lambda: self.run("sacctmgr", "-n", "list", "cluster").returncode == 0, "slurmdbd to answer")
        self.run("sacctmgr", "-i", "add", "cluster", "onboxtest")

    def _start(self) -> None:
        folder, socket_path = self.folder, self.folder / "run" / "munge.sock"
        keys = [f"--key-file={folder}/munge.key", f"--seed-file={folder}/run/munge.seed"]
        files = [f"--pid-file={folder}/run/munged.pid", f"--log-file={folder}/munged.log"]
        self._daemon("munged", "-F", "--force", f"--socket={socket_path}", *keys, *files)
        wait_until(socket_path.exists, "munged to listen")
        if self.accounting:
            self._start_accounting()
        self._daemon("slurmctld", "-D", "-i", "-f", str(self.conf))
        wait_until(lambda: self.run("scontrol", "ping").returncode == 0, "slurmctld to answer")
        for node in self.nodes:
            self.start_node(node)

    def start_node(self, node: str) -> None:
        """Start the node's slurmd, and wait until the controller takes it."""
        self._daemon("slurmd", "-D", "-N", node, "-f", str(self.conf), key=f"slurmd {node}")
        wait_until(lambda: self.node_state(node) == "idle", f"{node} to be idle")

    def node_state(self, node: str) -> str:
        """As sinfo tells it; `*` behind it: it does not answer."""
        return self.run("sinfo", "-h", "-N", "-n", node, "-p", "main", "-o", "%T").stdout.strip()

    def kill_node(self, node: str) -> None:
        """The node's slurmd is killed; what its jobs started lives on, as on a machine that lost its network."""
        os.kill(self.pid_of(f"slurmd {node}"), signal.SIGKILL)
        self.daemons.pop(f"slurmd {node}").wait(60)

    def _daemon(self, name: str, *words: str, key: str = "") -> None:
        program = shutil.which(name, path=PLACES)
        assert program is not None
        self.daemons[key or name] = subprocess.Popen(
            ["timeout", "-k", "5", BOUND_SECONDS, program, *words],
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """One of Slurm's commands."""
        return subprocess.run(argv, env=self.env, capture_output=True, text=True, timeout=60, check=False)

    def pid_of(self, daemon: str) -> int:
        """The daemon itself, a child of the `timeout` that bounds it."""
        pid = self.daemons[daemon].pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def jobs(self) -> dict[str, str]:
        """The state of every job that the controller knows, by its name."""
        lines = self.run("squeue", "-h", "-a", "-t", "all", "-o", "%j %T").stdout.splitlines()
        return dict(line.split() for line in lines)

    def close(self) -> None:
        """End every job, then the daemons, each by its own handle."""
        if any(name.startswith("slurmd ") for name in self.daemons):
            self.run("scancel", "--full", "--signal=KILL", "-u", "root")
            self.run("scancel", "-u", "root")
            wait_until(lambda: not self.run("squeue", "-h").stdout.strip(), "every job to end")
        nodes = [name for name in self.daemons if name.startswith("slurmd ")]
        for name in (*nodes, "slurmctld", "slurmdbd", "mariadbd", "munged"):
            if name in self.daemons:
                self.daemons[name].terminate()
                try:
                    self.daemons[name].wait(60)
                except subprocess.TimeoutExpired:
                    self.daemons[name].kill()
                    self.daemons[name].wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
