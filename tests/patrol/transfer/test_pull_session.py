"""A pull without a link: the box is this machine's own shell, the run a real one. What comes, what is said of what does
not, and what the next try goes on from.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from onbox.errors import Trouble
from onbox.model.boxes import BoxSettings
from onbox.model.manifest import Artifact, Stage
from patrol.memory.transfers import Register
from patrol.ssh.client import SshTarget
from patrol.transfer.manifest import parse
from patrol.transfer.meter import Meter
from patrol.transfer.pull import PullJob, bring, find
from patrol.transfer.session import Interrupted, Wishes, pull
from patrol.transfer.staging import Staging
from tests.chain_here import ChainHere

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from patrol.transfer.pull import FoundFiles, Pulled
    from tests.box import Box

TRAIN = Stage(
    "train",
    "mkdir -p ckpt; cd ckpt; echo weights >a.pt; echo more >b.pt; ln -sf b.pt best; ln -sf /etc/hostname out",
    artifacts=(Artifact("ckpt/*", is_glob=True),),
)


class Place:
    """A run that is done on a box, and a folder here."""

    def __init__(self, box: Box, folder: Path) -> None:
        self.project, self.home = box.project, folder / "home"
        assert ChainHere(box).run(TRAIN) == 0
        self.register = Register(str(folder / "state"))
        self.said: list[str] = []

    def job(self, run: str = "digits", target: SshTarget | None = None) -> PullJob:
        box = BoxSettings("here", "here", str(self.project), "local")
        return PullJob(target or SshTarget("here", None), box, ".onbox", run)

    def pull(self, job: PullJob | None = None) -> Pulled:
        wishes = Wishes(str(self.home), "patrol pull here/digits", tries=1)
        return pull(job or self.job(), wishes, self.register, self.said.append)

    def bring(self, meanwhile: Callable[[FoundFiles], FoundFiles | None], meter: Meter | None = None) -> Pulled:
        """With something that happens between the list and the files."""
        found = find(self.job())
        found = meanwhile(found) or found
        with closing(Staging(str(self.home))) as staging:
            return bring(self.job(), found, staging, meter or Meter("x", 1))

    def manifest(self) -> dict[str, str]:
        """SHA-256 by path."""
        lines = (self.home / "onbox-manifest.jsonl").read_bytes().splitlines(keepends=True)
        return {entry.path: entry.sha256 for entry in parse(lines).entries}


@pytest.fixture
def place(box: Box, tmp_path: Path) -> Place:
    return Place(box, tmp_path)


def test_all_of_a_run_is_here_and_the_manifest_vouches_for_each_file(place: Place) -> None:
    pulled = place.pull()
    assert pulled.head.is_complete
    entries = place.manifest()
    assert {"ckpt/a.pt", "ckpt/b.pt", ".onbox/digits/events.jsonl", ".onbox/digits/markers/CHAIN_DONE"} <= set(entries)
    assert not any(name.endswith(("/lock", ".slot")) for name in entries), "a box's machinery tells nothing of the run"
    for name, digest in entries.items():
        data = (place.home / name).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), data) == (digest, (place.project / name).read_bytes())
    transfer = place.register.read("pull", "here", "digits")
    assert transfer is not None
    assert (transfer.is_complete, transfer.of_done_run, transfer.home is not None) == (True, True, True)


def test_a_link_that_stays_inside_comes_along_and_one_that_leads_out_is_said(place: Place) -> None:
    pulled = place.pull()
    assert os.readlink(place.home / "ckpt/best") == "b.pt"
    assert not os.path.lexists(place.home / "ckpt/out")
    assert any("ckpt/out → /etc/hostname" in note for note in pulled.notes)


def test_the_same_again_brings_nothing_and_keeps_what_was_verified(place: Place) -> None:
    place.pull()
    before = place.register.read("pull", "here", "digits")
    assert before is not None
    verified = before._replace(verified_at=1.0, verified_run_id=before.run_id)
    place.register.write(verified)
    assert place.pull().came_bytes == 0
    assert place.register.read("pull", "here", "digits") == verified


def test_what_is_done_and_gone_makes_it_incomplete(place: Place) -> None:
    (place.project / "ckpt/a.pt").unlink()
    head = place.pull().head
    assert not head.is_complete
    (missing,) = head.missing
    assert missing.startswith("ckpt/a.pt (")


def test_a_file_that_is_written_anew_meanwhile_comes_as_it_is_then(place: Place) -> None:
    pulled = place.bring(lambda _: rewrite(place.project / "ckpt/a.pt", "quite other weights"))
    assert pulled.head.is_complete
    assert (place.home / "ckpt/a.pt").read_text() == "quite other weights"


def rewrite(path: Path, text: str) -> None:
    path.write_text(text)


def test_a_journal_that_grows_meanwhile_is_whole_to_where_it_was_read(place: Place) -> None:
    journal = place.project / ".onbox/digits/events.jsonl"
    listed = journal.read_bytes()

    def grow(_: FoundFiles) -> None:
        with journal.open("ab") as file:
            file.write(b'{"more": 1}\n')

    assert place.bring(grow).head.is_complete
    assert (place.home / ".onbox/digits/events.jsonl").read_bytes() == listed


def test_a_file_that_is_removed_meanwhile_is_named_and_the_rest_comes(place: Place) -> None:
    pulled = place.bring(lambda _: (place.project / "ckpt/a.pt").unlink())
    assert not pulled.head.is_complete
    assert (pulled.head.changed, pulled.head.unread) == ((), ("ckpt/a.pt",))
    assert (place.home / "ckpt/b.pt").exists()
    assert "ckpt/a.pt" not in place.manifest()


class Removes(Meter):
    """Removes a file on the box once bytes of it came."""

    path: Path

    def add(self, count: int, file: str) -> None:
        if count and file == "ckpt/a.pt":
            self.path.unlink()
        super().add(count, file)


def test_a_file_that_is_removed_after_it_came_is_not_taken(place: Place) -> None:
    meter = Removes("x", 1)
    meter.path = place.project / "ckpt/a.pt"
    pulled = place.bring(lambda _: None, meter)
    assert (pulled.head.changed, pulled.head.unread) == ((), ("ckpt/a.pt",))
    assert not (place.home / "ckpt/a.pt").exists()


def test_what_does_not_fit_is_not_begun(place: Place) -> None:
    def huge(found: FoundFiles) -> FoundFiles:
        files = {name: one._replace(size=1 << 60) for name, one in found.files.items()}
        return found._replace(listing=found.listing._replace(files=files))

    with pytest.raises(Trouble, match="make room, or name another folder: nothing was begun"):
        place.bring(huge)
    assert not (place.home / "ckpt").exists()


def test_a_run_that_is_not_there_is_told_with_those_that_are(place: Place) -> None:
    with pytest.raises(Trouble, match="here has no run 'mnist'; the runs there: digits"):
        place.pull(place.job("mnist"))


def test_two_pulls_of_one_run_do_not_meet(place: Place) -> None:
    lock = place.register.lock("pull.here.digits")
    assert lock is not None
    with pytest.raises(Trouble, match="is being pulled already"):
        place.pull()
    lock.release()
    with closing(Staging(str(place.home))), pytest.raises(Trouble, match="another transfer writes there now"):
        place.pull()
    assert place.pull().head.is_complete, "both locks are given back"


def test_a_link_that_fails_leaves_what_came_and_says_how_far(place: Place) -> None:
    fails = SshTarget("here", "gpu1", ("sh", "-c", "echo 'Connection refused' >&2; exit 255", "ssh"))
    with pytest.raises(Interrupted) as caught:
        place.pull(place.job(target=fails))
    assert "Connection refused" in caught.value.why
    assert place.pull().head.is_complete
