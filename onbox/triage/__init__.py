"""Why a stage died: classes, remedies, and the evidence that tells them apart. Pure.

Open `classify.py` first, then `rules/table.py` (the table) and `classes.py` (what to do about each class).
"""
