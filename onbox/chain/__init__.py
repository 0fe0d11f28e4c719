"""The chain that completes itself: plan, run, judge, mark. Open `runner/runner.py` first, then
`runner/stage_run.py`.

`launch.py` and `viewer/` run in the user's terminal; `runner/` and what it calls run detached and stay light.
"""
