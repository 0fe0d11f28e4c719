"""What a box that lies cannot do to the patrol, the handbook and the sentinel of its user."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.hostile_box import Hostile


def test_an_honest_answer_passes_through_whole(place_of_liars: Hostile) -> None:
    place = place_of_liars
    place.know_two()
    assert place.rules() == {"gpu1/digits": "done", "gpu2/digits": "done"}
    place.lie("def change(out, script): return out.replace(b'digits', b'numbers')")
    assert set(place.tick()) >= {"gpu1/numbers", "gpu2/digits"}
    place.lie("def each(line, script): return line")
    assert place.sentinel("wait", "gpu1:digits", "--timeout", "20s").returncode == 0
    place.lie("def stream(script):\n    yield mark(script, b'end')")
    assert place.tick()["gpu1/digits"]["state"] == "unknown"


def test_a_name_that_is_not_text_blinds_nobody(place_of_liars: Hostile) -> None:
    place = place_of_liars
    place.know_two()
    state = place.copy_project() / ".onbox"
    shutil.copytree(state / "digits", os.fsdecode(os.fsencode(state) + b"/x\xffy"))
    for _ in range(2):
        seen = place.tick()
        assert seen["gpu1/digits"]["state"] == seen["gpu2/digits"]["state"] == "done"
        assert set(seen) == {"gpu1/digits", "gpu2/digits"}
        assert "could not look at: runs (1 left out, not a run's name: x\\xffy)" in place.patrol("tick").stdout
    assert place.rules() == {"gpu1/digits": "done", "gpu2/digits": "done"}
    assert place.handbook("build", "--look").returncode == 0


def test_random_bytes_in_every_frame_blind_nobody(place_of_liars: Hostile) -> None:
    place = place_of_liars
    place.know_two()
    place.lie(
        """
        import random, re
        def change(out, script):
            chance = random.Random(7)
            word = re.escape(nonce(script))
            return re.sub(rb"<<<" + word + rb"[^\\n]*>>>\\n", lambda mark: mark[0] + chance.randbytes(40), out)
        """
    )
    for _ in range(2):
        seen = place.tick()
        assert seen["gpu2/digits"]["state"] == "done"
        assert any(name.startswith("gpu1") for name in seen)
    assert place.handbook("resume").returncode != 70
