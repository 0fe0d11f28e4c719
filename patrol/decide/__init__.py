"""The decision: from what a look brought, and what is known from earlier ticks, to a verdict. Pure.

Open `table.py` first: the rules in the order in which they are asked; `decide.py` asks them.
"""
