"""A Slurm of one node on loopback for a test: munged, slurmctld and slurmd with directories, key and ports of its own.

Nothing under /etc is read or written, and only what was started here is ended, by its own handle.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from tests.box import wait_until

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
BOUND_SECONDS = "900"  # no daemon outlives a test that was killed by more than this


def why_not() -> str | None:
    """Why there can be no Slurm here; None if there can."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=PLACES) is None]
    if missing:
        return f"needs slurmctld, slurmd, slurm-client and munge; missing: {', '.join(missing)}"
    return None if os.geteuid() == 0 else "needs root: slurmd starts jobs as their users"


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


class SlurmCluster:
    """One node `n0` with the partitions `main` (its jobs are requeued when preempted) and `high`."""

    def __init__(self, *, cgroup: bool = False) -> None:
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
        for name in ("state", "spool", "run"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        track = "cgroup" if cgroup else "linuxproc"
        task, gather = ("cgroup", "cgroup") if cgroup else ("none", "linux")
        controller, node = free_ports(2)
        host = socket.gethostname().partition(".")[0]
        folder = self.folder
        self.conf.write_text(
            f"ClusterName=onboxtest\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\n"
            "SlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\nCredType=cred/munge\n"
            # A requeued job waits for as long as its credential lives: two minutes, if this were not set.
            f"AuthInfo=socket={folder}/run/munge.sock,cred_expire=5\n"
            f"StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\n"
            f"SlurmctldPidFile={folder}/run/slurmctld.pid\nSlurmdPidFile={folder}/run/slurmd.pid\n"
            f"SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd.log\n"
            "ReturnToService=2\nSlurmdTimeout=30\nMinJobAge=300\nKillWait=5\nMpiDefault=none\nJobRequeue=1\n"
            "SchedulerType=sched/backfill\nSchedulerParameters=sched_interval=2,bf_interval=2\n"
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
            "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
            f"ProctrackType=proctrack/{track}\nTaskPlugin=task/{task}\nJobAcctGatherType=jobacct_gather/{gather}\n"
            "AccountingStorageType=accounting_storage/none\n"
            f"NodeName=n0 NodeHostname={host} NodeAddr=127.0.0.1 Port={node} CPUs={os.cpu_count()} RealMemory=2000\n"
            "PartitionName=main Nodes=n0 Default=YES State=UP PriorityTier=1 PreemptMode=REQUEUE\n"
            "PartitionName=high Nodes=n0 State=UP PriorityTier=10 PreemptMode=OFF\n"
        )
        limits = "CgroupAutomount=no\nConstrainRAMSpace=yes\nConstrainSwapSpace=yes\nConstrainCores=no\n"
        (folder / "cgroup.conf").write_text(limits)

    def _start(self) -> None:
        folder, socket_path = self.folder, self.folder / "run" / "munge.sock"
        keys = [f"--key-file={folder}/munge.key", f"--seed-file={folder}/run/munge.seed"]
        files = [f"--pid-file={folder}/run/munged.pid", f"--log-file={folder}/munged.log"]
        self._daemon("munged", "-F", "--force", f"--socket={socket_path}", *keys, *files)
        wait_until(socket_path.exists, "munged to listen", 10)
        self._daemon("slurmctld", "-D", "-i", "-f", str(self.conf))
        wait_until(lambda: self.run("scontrol", "ping").returncode == 0, "slurmctld to answer", 20)
        self._daemon("slurmd", "-D", "-N", "n0", "-f", str(self.conf))
        wait_until(lambda: "idle" in self.run("sinfo", "-h", "-o", "%t").stdout, "the node to be idle", 20)

    def _daemon(self, name: str, *words: str) -> None:
        program = shutil.which(name, path=PLACES)
        assert program is not None
        self.daemons[name] = subprocess.Popen(
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
        if "slurmd" in self.daemons:
            self.run("scancel", "--full", "--signal=KILL", "-u", "root")
            self.run("scancel", "-u", "root")
            wait_until(lambda: not self.run("squeue", "-h").stdout.strip(), "every job to end", 20)
        for name in ("slurmd", "slurmctld", "munged"):
            if name in self.daemons:
                self.daemons[name].terminate()
                try:
                    self.daemons[name].wait(10)
                except subprocess.TimeoutExpired:
                    self.daemons[name].kill()
                    self.daemons[name].wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
