"""What is sent as a key looks like one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.backends.secrets import NoToken, find_token, read_token_file
from onbox.config.key_text import key_problem
from onbox.notify.targets import NotSet, look_up_reference

if TYPE_CHECKING:
    from pathlib import Path

PRIVATE_KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "text", ["k" * 40, "local-" + "0" * 80, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "a pass phrase"]
)
def test_a_key_is_one(text: str) -> None:
    assert key_problem(text) is None


@pytest.mark.parametrize("text", [PRIVATE_KEY.strip(), "user\npassword", "k" * 257, "a\x1b[2Kb", "a\u2028b"])
def test_another_file_is_not(text: str) -> None:
    problem = key_problem(text)
    assert problem is not None
    assert text[:8] not in problem


def test_a_private_key_is_neither_sent_nor_shown(tmp_path: Path) -> None:
    path = tmp_path / "id_ed25519"
    path.write_text(PRIVATE_KEY)
    with pytest.raises(NotSet) as refused:
        look_up_reference(f"file:{path}", {}, str(tmp_path))
    with pytest.raises(NoToken) as no_token:
        find_token(f"file:{path}", {})
    assert read_token_file(str(path)) is None
    assert "PRIVATE" not in f"{refused.value}{no_token.value}"
    path.write_text("t0ken\n")
    assert (find_token(f"file:{path}", {}), look_up_reference("file:id_ed25519", {}, str(tmp_path))) == (
        "t0ken",
        "t0ken",
    )
