"""What goes when somebody agreed to a list: exactly that, as it was when listed; after a kill, the rest of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onbox.checkpoints.extent import measure
from onbox.checkpoints.keep import Retention
from onbox.contract.paths import RunPaths
from onbox.retention.plan import PruneItem, PrunePlan
from onbox.retention.record import strays, unfinished
from onbox.retention.removal import Removed, finish, remove_listed
from onbox.system.files import StateNotWritten

if TYPE_CHECKING:
    from pathlib import Path


class Place:
    """Checkpoints in a folder of a project, and the run's own directory."""

    def __init__(self, folder: Path) -> None:
        self.project, self.ckpt = folder, folder / "ckpt"
        self.ckpt.mkdir()
        (folder / "run").mkdir()
        self.paths = RunPaths(str(folder / "run"))
        for step in (1, 2, 3):
            self.save(step)

    def save(self, step: int, text: str = "weights") -> None:
        path = self.ckpt / f"step-{step}"
        path.mkdir()
        (path / "model.pt").write_text(text)

    def plan(self, *steps: int) -> PrunePlan:
        """The list that somebody was shown."""
        return PrunePlan(tuple(map(self.item, steps)), (), 3, Retention())

    def item(self, step: int) -> PruneItem:
        path = str(self.ckpt / f"step-{step}")
        seen = measure(path)
        return PruneItem(path, f"step-{step}", "train", step, seen.bytes, seen.files, seen.newest_at, seen.identity)

    def remove(self, plan: PrunePlan) -> Removed:
        return remove_listed(self.paths, plan, str(self.project))

    @property
    def there(self) -> list[str]:
        return sorted(os.listdir(self.ckpt))

    @property
    def aside(self) -> list[str]:
        folder = self.project / ".ckpt.onbox"
        return sorted(os.listdir(folder)) if folder.exists() else []


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_what_was_agreed_to_goes_and_the_rest_stays(place: Place) -> None:
    done = place.remove(place.plan(1, 2))
    assert (place.there, place.aside) == (["step-3"], [])
    assert (done.left, done.trouble, done.recorded, done.bytes) == ((), "", True, 14)
    assert unfinished(place.paths) == []


def test_what_was_written_to_since_it_was_listed_stays(place: Place) -> None:
    plan = place.plan(1, 2)
    (place.ckpt / "step-1" / "more.pt").write_text("more")
    done = place.remove(plan)
    assert place.there == ["step-1", "step-3"]
    assert done.left == ("step-1: it has changed since it was listed",)


def test_another_checkpoint_of_the_same_name_stays(place: Place) -> None:
    plan = place.plan(1)
    (place.ckpt / "step-1").rename(place.ckpt / "old")
    place.save(1)
    for name in ("model.pt", "."):  # as `cp -p` would
        seen = os.stat(place.ckpt / "old" / name)
        os.utime(place.ckpt / "step-1" / name, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert place.remove(plan).left == ("step-1: it has changed since it was listed",)
    assert place.there == ["old", "step-1", "step-2", "step-3"]


def test_what_is_gone_already_is_no_trouble(place: Place) -> None:
    plan = place.plan(1, 2)
    (place.ckpt / "step-1" / "model.pt").unlink()
    (place.ckpt / "step-1").rmdir()
    done = place.remove(plan)
    assert ([move.item.step for move in done.removed], done.left) == ([2], ())


def test_nothing_is_touched_before_the_list_stands_on_the_disk(place: Place) -> None:
    os.mkdir(place.paths.prunes)
    with pytest.raises(StateNotWritten):
        place.remove(place.plan(1, 2))
    assert place.there == ["step-1", "step-2", "step-3"]


# -- after a kill


def cut_off(place: Place, plan: PrunePlan, renames: int) -> None:
    """A removal that was killed after so many renames."""
    pid = os.fork()
    if not pid:
        done = 0
        rename = os.rename

        def dies(*words: str) -> None:
            nonlocal done
            if done == renames:
                os._exit(9)
            done += 1
            rename(*words)

        os.rename = dies  # type: ignore[assignment]
        try:
            place.remove(plan)
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9


@pytest.mark.parametrize("renames", [0, 1])
def test_who_comes_after_a_kill_finishes_the_list(place: Place, renames: int) -> None:
    plan = place.plan(1, 2)
    cut_off(place, plan, renames)
    (begun,) = unfinished(place.paths)
    assert finish(place.paths, begun, plan).left == ()
    assert (place.there, place.aside, unfinished(place.paths)) == (["step-3"], [], [])


def test_what_is_kept_by_then_stays_and_what_lies_aside_goes(place: Place) -> None:
    """The first was moved aside when the removal was killed; of the second somebody has changed his mind."""
    plan = place.plan(1, 2)
    cut_off(place, plan, 1)
    (begun,) = unfinished(place.paths)
    assert finish(place.paths, begun, place.plan()).left == ("step-2: it is kept now",)
    assert (place.there, place.aside) == (["step-2", "step-3"], [])


def test_what_lies_aside_without_a_record_is_found(place: Place) -> None:
    """The disk had no room for one."""
    plan = place.plan(1)
    cut_off(place, place.plan(1, 2), 1)
    os.unlink(place.paths.prunes)
    (stray,) = strays(str(place.project), [str(place.ckpt)], known=())
    assert [move.item.path for move in stray.moves] == [item.path for item in plan.items]
    assert finish(place.paths, stray, place.plan()).left == ()
    assert place.aside == []
