"""What a log's last lines count though no word of theirs names a counter. Pure.

A number that goes on evenly (`rising.py`), two that make up a whole (`columns.py`), things of which only the head tells
that they are counted (`led.py`), a time that ticks or nears its end, fits that have ended. And what looks so and is
none: a column of results (`under_head.py`).
"""
