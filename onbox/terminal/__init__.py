"""A terminal with a person before it: what it can show, keys, Ctrl-C, tables. `capable.py` says whether there is one.

rich is loaded only by `full_screen.py` and `paint.py`, so only where `capable.py` has said yes.
"""
