"""Reading logs at the cost of what is new, never of the file's size.

Open `progress.py` first: bytes, lines, counters, choice. `line/shapes.py` is the table of what programs print,
`cursor.py` and `tail.py` read files. Imports `contract` and `system` only.
"""
