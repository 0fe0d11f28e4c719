"""Engines that are asked over HTTP (Ray, Iris): clusters as boxes, and runs of other boxes that were handed to them.

Open `look.py` first: the only file here that asks. `endpoint.py` says where; `watched.py` (a job that somebody
submitted) and `handed.py` (a run of onbox) make a look out of the answers. What a job's state means is
`onbox.runs.engine_word`'s, as everywhere. May import `probe`, `ssh` and below.
"""
