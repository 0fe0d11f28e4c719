"""Which of the counters that a log names is the run's own, and which one goes on inside it. Pure.

Open `pick.py` first. `grounds.py` says which counters count at all, `aside.py` which of these leave it to another one,
`nesting.py` and `headings.py` how two of them stand to each other, `maximum.py` how many there are to be.
`in_turn.py` and `estimated.py` know bars that are one.
"""
