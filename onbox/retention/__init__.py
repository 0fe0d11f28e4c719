"""Removing and rejecting checkpoints by a person's word: `plan.py` first; what is moved, and in which order, is in
`removal.py` and `rollback.py`. Imports the rooms below `onbox.commands`.
"""
