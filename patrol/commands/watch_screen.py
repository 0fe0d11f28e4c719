"""`patrol watch` on a terminal: a table of runs, and all that is known of the one that is selected."""

from __future__ import annotations

from queue import Empty
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.layout import Layout
from rich.rule import Rule
from rich.text import Text

from onbox.model.units import counted
from onbox.system.clock import wall
from onbox.terminal import palette
from onbox.terminal.full_screen import run_full_screen
from onbox.terminal.paint import line_of
from patrol.commands.watch_looks import Looker
from patrol.decide.phrases import ago
from patrol.report.remembered import remembered_subjects
from patrol.report.rows import row_of
from patrol.report.table import head, lines_of, marked, pane
from patrol.tick import policy_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console, RenderableType

    from onbox.model.boxes import BoxSettings
    from patrol.config.settings import Settings
    from patrol.memory.store import Memory
    from patrol.report.rows import RowSource

PANE_LEAST = 8  # lines, where there is something to say of the selected run
PAGE = 10
HINT = "↑ ↓ choose   enter all of it   l look now   q quit"
HINT_WHOLE = "enter back to the list   l look now   q quit"


class WatchScreen:
    """subjects: by box, in the order of the configuration. selected: by place in the list that is shown."""

    def __init__(self, looker: Looker, subjects: dict[str, list[RowSource]], title: str) -> None:
        self.looker, self.title = looker, title
        self.subjects = subjects
        self.selected = 0
        self.whole = False
        self.left = False
        self.looked_at: float | None = None
        self.rounds = 0

    # -- what `run_full_screen` asks

    def is_over(self) -> bool:
        self._take_news()
        return self.left or (self.looker.rounds is not None and self.rounds >= self.looker.rounds)

    def press(self, key: str) -> None:
        action = _ACTIONS.get(key)
        if action is not None:
            action(self)

    def picture(self, width: int, height: int, *, has_keys: bool) -> RenderableType:
        now, shown = wall(), self.shown()
        self._stay_within(len(shown))
        layout = Layout()
        hint = (HINT_WHOLE if self.whole else HINT) if has_keys else "Ctrl-C ends it"
        parts = [Layout(self._title(now, shown), size=1)]
        if not self.whole or not shown:
            parts += self._list(shown, now, width, height)
        if shown:
            subject = shown[self.selected]
            row = row_of(subject, now)
            below: list[RenderableType] = [Rule(Text(row.name, palette.STRONG), align="left", style=palette.FAINT)]
            parts.append(Layout(Group(*below, pane(subject, row, now))))
        layout.split_column(*parts, Layout(line_of((hint, palette.FAINT)), size=1))
        return layout

    # -- what is shown

    def shown(self) -> list[RowSource]:
        return [subject for box in self.subjects.values() for subject in box]

    def _title(self, now: float, shown: Sequence[RowSource]) -> Text:
        if self.looker.looking:
            when = "looking …"
        else:
            when = "" if self.looked_at is None else f"looked {ago(max(0.0, now - self.looked_at))} ago"
        said = [self.title, counted(len(shown), "run"), f"every {self.looker.every:g} s", when]
        return line_of((" · ".join(filter(None, said)), palette.FAINT))

    def _list(self, shown: Sequence[RowSource], now: float, width: int, height: int) -> list[Layout]:
        """The head and as many runs as there is room for, around the one that is selected."""
        if not shown:
            return [Layout(Text("no run was seen yet", palette.FAINT))]
        room = max(3, height - 3 - PANE_LEAST)
        blocks = [
            marked(lines_of(row_of(subject, now), now, width - 1), selected=number == self.selected)
            for number, subject in enumerate(shown)
        ]
        lines: list[Text] = []
        at = 0
        for number, block in enumerate(blocks):
            at = len(lines) if number == self.selected else at
            lines += block
        first = max(0, min(at - room // 2, len(lines) - room))
        seen = lines[first : first + room]
        return [Layout(Text.assemble(" ", head(width - 1)), size=1), Layout(Group(*seen), size=len(seen))]

    def _stay_within(self, count: int) -> None:
        self.selected = max(0, min(self.selected, count - 1))

    # -- what happens

    def _take_news(self) -> None:
        while True:
            try:
                news = self.looker.found.get_nowait()
            except Empty:
                return
            if isinstance(news, Exception):
                raise news
            if isinstance(news, int):
                self.rounds, self.looked_at = news, wall()
            elif news:
                self.subjects[news[0].verdict.box] = news

    def move(self, by: int) -> None:
        self.selected = max(0, min(self.selected + by, len(self.shown()) - 1))

    def leave(self) -> None:
        self.left = True

    def turn(self) -> None:
        self.whole = not self.whole

    def back(self) -> None:
        self.whole = False

    def look_now(self) -> None:
        self.looker.asked.set()


_ACTIONS: dict[str, Callable[[Any], None]] = {
    "up": lambda screen: screen.move(-1),
    "k": lambda screen: screen.move(-1),
    "down": lambda screen: screen.move(1),
    "j": lambda screen: screen.move(1),
    "page_up": lambda screen: screen.move(-PAGE),
    "page_down": lambda screen: screen.move(PAGE),
    "home": lambda screen: screen.move(-len(screen.shown())),
    "end": lambda screen: screen.move(len(screen.shown())),
    "enter": lambda screen: screen.turn(),
    "esc": lambda screen: screen.back(),
    "l": lambda screen: screen.look_now(),
    "q": lambda screen: screen.leave(),
}


def watch_on_screen(
    console: Console,
    settings: Settings,
    boxes: Sequence[BoxSettings],
    memory: Memory,
    *,
    every: float,
    rounds: int | None,
) -> None:
    """Until q, Ctrl-C or so many rounds; the last table stays on the screen behind it. What the ticks remember is shown
    until the first look has come.
    """
    policy_of(settings)  # errors of the configuration are told before the screen is taken
    looker = Looker(settings, boxes, memory, every, rounds)
    known = remembered_subjects(memory, [box.name for box in boxes])
    screen = WatchScreen(looker, {box.name: known.get(box.name, []) for box in boxes}, "patrol watch")
    looker.start()
    run_full_screen(console, screen, looker.bell_fd)
    now = wall()
    rows = [row_of(subject, now) for subject in screen.shown()]
    for line in [head(console.width), *(line for row in rows for line in lines_of(row, now, console.width))]:
        console.print(line)
