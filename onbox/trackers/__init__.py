"""Experiment trackers as a second opinion: is it the intended run, and does it move? Never the only opinion.

Open `compare.py` first: the decision table. `wandb_file.py`, `wandb_api.py` and `trackio_db.py` say what a tracker's
own files and answers hold; all are pure, bytes or rows in, a `TrackerRun` out. Imports `contract` only.
"""
