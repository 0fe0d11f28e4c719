"""What the success gate asks of an attempt's log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onbox.chain.gates.ask_success_gate import GateAnswer, ask_gate
from onbox.chain.gates.success_gate import Ended
from onbox.chain.observe.progress_watch import ProgressWatch
from onbox.chain.state.replay import StageHistory
from onbox.model.manifest import REFUSE, Stage

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = Stage("train", "python train.py")


def verdict(folder: Path, stage: Stage, text: str, code: int = 0) -> GateAnswer:
    log = folder / "train.1.log"
    log.write_text(text)
    progress = ProgressWatch({})
    progress.begin(str(log))
    return ask_gate(stage, str(folder), str(log), StageHistory(1), Ended(code, None, "exit", 9.0), progress)


def test_a_line_that_must_not_be_there_is_shown(tmp_path: Path) -> None:
    stage = PLAIN._replace(fail_if_log="left out [0-9]+")
    (finding,) = verdict(tmp_path, stage, "step 1\nleft out 3 shards\nstep 2\n").findings
    assert finding.seen == "the log says: left out 3 shards"
    assert verdict(tmp_path, stage, "step 1\nstep 2\n").findings == ()


def test_an_expression_that_never_ends_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onbox.logs.tail.SEARCH_SECONDS", 0.2)
    stage = PLAIN._replace(fail_if_log="(a+)+$")
    (finding,) = verdict(tmp_path, stage, "a" * 60 + "b\n").findings
    assert "takes too long" in finding.seen


@pytest.mark.parametrize(
    ("line", "loss"),
    [
        ("step 3/3 loss nan", "nan"),
        ("{'loss': nan, 'grad_norm': nan, 'epoch': 3.0}", "nan"),
        ("{'loss': '0', 'grad_norm': 'nan', 'epoch': '0.06'}", "0 although the gradient norm is not finite"),
        ("{'loss': 0.0, 'grad_norm': 0.31, 'epoch': 3.0} time nan", ""),
        ("{'loss': 0.25, 'grad_norm': inf, 'epoch': 3.0}", ""),
        ("[3]\ttrain-rmse:nan\tvalid-rmse:nan", "nan"),
        ("[3]\ttrain-logloss:-nan", "nan"),
        ("3:\tlearn: nan\ttotal: 9ms\tremaining: 0us", "nan"),
        ("[3]\ttrain-rmse:0.25\tvalid-rmse:nan", ""),
        ("step 3/3 loss 0.25 time nan", ""),
        ("finance: step 3/3 loss 0.25", ""),
        ("step 3/3", ""),
    ],
)
def test_only_a_last_loss_that_is_no_number_is_told(tmp_path: Path, line: str, loss: str) -> None:
    text = f"step 1/3 loss nan\nstep 2/3 loss 0.5\n{line}\n"
    found = verdict(tmp_path, PLAIN, text)
    assert (found.findings, bool(found.warnings)) == ((), bool(loss))
    refused = verdict(tmp_path, PLAIN._replace(finite_loss=REFUSE), text)
    assert ([one.gate for one in refused.findings], refused.warnings) == (["finite_loss"] if loss else [], ())
    assert verdict(tmp_path, PLAIN._replace(finite_loss="off"), text).warnings == ()


def test_a_failed_attempt_is_not_asked_for_more(tmp_path: Path) -> None:
    found = verdict(tmp_path, PLAIN._replace(fail_if_log="boom"), "boom\n", code=1)
    assert [one.gate for one in found.findings] == ["exit_code"]
