"""How many there are to be, where the words of the log's head say so by a rule. Pure.

Beside the word of the things that are counted (`announced.py`), by a name that loops have for their end (`limits.py`),
or exactly, where a bar rounds it (`rounded.py`). Where no rule knows the words, `onbox/logs/totals` has learned which
number is likely the end.
"""
