"""docs/notifications.md says what the code does."""

from __future__ import annotations

import importlib
import re

from onbox.contract.notify_targets import NOTIFY_EVENTS
from onbox.notify.table import FORMATS
from tests.box import REPOSITORY

PAGE = (REPOSITORY / "docs" / "notifications.md").read_text()


def channel_table() -> str:
    """The table of channels, from the code."""
    lines = [
        "| format | delivered means | limit | at most | secret | set-up |",
        "|---|---|---|---|---|---|",
    ]
    for one in FORMATS:
        rate = "" if one.rate is None else f"{one.rate.messages} in {one.rate.seconds:g} s"
        lines.append(
            f"| `{one.name}` ({one.title}) | {one.success} | {one.limit} | {rate} | {one.signing} | {one.setup} |"
        )
    return "\n".join(lines)


def test_the_table_of_channels_is_that_of_the_code() -> None:
    found = re.search(r"(?s)<!-- this table.*?-->\n(.*?)\n<!-- end -->", PAGE)
    assert found
    assert found[1] == channel_table()


def test_every_event_is_explained() -> None:
    assert all(f"`{event}`" in PAGE for event in NOTIFY_EVENTS)


def test_every_format_names_its_source() -> None:
    modules = {one.build.__module__ for one in FORMATS}
    assert len(modules) == len(FORMATS) - 1, "Feishu and Lark share one"
    for module in modules:
        assert "Source: " in (importlib.import_module(module).__doc__ or ""), module
    assert all(one.source and one.setup and one.success for one in FORMATS)
