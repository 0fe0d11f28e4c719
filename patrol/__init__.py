"""Looks at the boxes from outside, by cron, and says one line per run every time.

Open `tick.py` first: lock, look, decide, act, tell, remember. `snapshot.py` holds what a look can bring, `verdict.py`
what is said of it; `decide/` is the table between them. Imports `onbox`, never `sentinels` or `handbook`.
"""
