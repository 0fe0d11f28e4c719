"""The chain that completes itself: plan, run, judge, mark. Open `runner.py` first, then `stage_run.py`.

`launch.py` and `view.py` run in the user's terminal; `runner.py` and what it calls run detached and stay light.
"""
