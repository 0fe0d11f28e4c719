"""Which of the counters that a log names is the run's own, and which one goes on inside it. Pure.

Open `pick.py` first. `grounds.py` says which counters count at all, `nesting.py` and `headings.py` how two of them
stand to each other.
"""
