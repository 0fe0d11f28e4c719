"""What the scripts install, and how they say it."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.box import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

LOCKS = sorted((REPOSITORY / "scripts").glob("requirements-*.lock"))
APT = """#!/bin/sh
case "$*" in
  *update*) exit 0 ;;
  *missing*) echo "E: Unable to locate package missing"; exit 100 ;;
esac
"$POLICY"; echo "policy says $?" >>"$SAID"
"""


def bash(text: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=60, check=False, env=env)


def test_help_is_printed_and_nothing_is_started(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__", "bench"))
    done = bash(f"{tmp_path}/scripts/test --help", PATH="/usr/bin:/bin")
    assert (done.returncode, done.stderr) == (0, "")
    assert {"--quick", "--engines", "--help"} <= set(done.stdout.split())
    assert [path.name for path in tmp_path.iterdir()] == ["scripts"]


@pytest.fixture
def apt(tmp_path: Path) -> str:
    """The first lines of a script that is root on a machine with this apt-get."""
    for name, text in (("apt-get", APT), ("id", "#!/bin/sh\necho 0\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return (
        f"export PATH={tmp_path}:/usr/bin:/bin POLICY={tmp_path}/policy-rc.d SAID={tmp_path}/said repo={tmp_path}\n"
        f". {REPOSITORY}/scripts/setup_venv.sh\npolicy=$POLICY\n"
    )


def test_what_apt_installs_is_said_and_starts_no_daemon(apt: str, tmp_path: Path) -> None:
    done = bash(f"{apt}apt_install openssh-server")
    assert done.returncode == 0
    assert "apt-get install -y --no-install-recommends openssh-server" in done.stdout
    assert (tmp_path / "said").read_text() == "policy says 101\n"
    assert not (tmp_path / "policy-rc.d").exists()


def test_apts_own_words_are_shown_when_it_fails(apt: str, tmp_path: Path) -> None:
    done = bash(f"{apt}apt_install missing")
    assert done.returncode == 1
    assert "Unable to locate package missing" in done.stderr
    assert not (tmp_path / "policy-rc.d").exists()


def test_a_policy_of_the_machine_itself_is_left_alone(apt: str, tmp_path: Path) -> None:
    own = tmp_path / "policy-rc.d"
    own.write_text("#!/bin/sh\nexit 0\n")
    own.chmod(0o755)
    bash(f"{apt}apt_install openssh-server")
    assert own.read_text() == "#!/bin/sh\nexit 0\n"


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_a_lock_pins_and_hashes_everything_and_names_no_place(lock: Path) -> None:
    text = lock.read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) > 10
    assert [line for line in lines if not re.match(r"[A-Za-z0-9_.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line)] == []
    assert "://" not in text
    assert "index" not in re.sub(r"[a-z-]*index[a-z-]*==", "", text)


def test_a_package_that_is_not_the_locked_one_ends_the_installation(tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(
        "#!/bin/sh\necho 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.'\nexit 1\n"
    )
    python.chmod(0o755)
    start = f"repo={tmp_path}; . {REPOSITORY}/scripts/setup_venv.sh; venv={tmp_path}/.venv; install_locked test"
    done = bash(f"{start} || echo went on", PATH="/usr/bin:/bin")
    assert (done.returncode, "went on" in done.stdout) == (1, False)
    python.write_text("#!/bin/sh\necho 'ERROR: No matching distribution found for numpy==9'\nexit 1\n")
    done = bash(f"{start} || echo went on", PATH="/usr/bin:/bin")
    assert "went on" in done.stdout
    assert "No matching distribution" in done.stderr
