"""What trackers and frameworks say when a program ends, whatever it ended with: no proof of anything. Pure."""

from __future__ import annotations

import re

from onbox.regex import lazy

_FAREWELL = lazy(
    r"^\W{0,6}(?:wandb|swanlab|neptune|clearml|mlflow|aim|trackio|comet(?:_ml)?)\b\s?[\w. ]{0,20}[:|\]-]"
    r"|^\W{0,6}View (?:run|experiment|project)\b.{0,200}\bhttps?://"
    r"|destroy_process_group\(\) was not called|resource_tracker: There appear to be|leaked semaphore"
    r"|^Exception ignored in|^\W{0,6}(?:COMET|CometML) (?:INFO|WARNING):|ClearML Monitor",
    re.IGNORECASE,
)


def is_farewell(line: str) -> bool:
    """Whether a line is a tracker's or a framework's own, and says nothing of how the program fared."""
    return _FAREWELL.search(line[:400]) is not None
