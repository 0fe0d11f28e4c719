"""What a box that lies cannot do to the patrol, the handbook and the sentinel of its user."""

from __future__ import annotations

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
