"""A sweep: many cells, each a chain of its own with its own directory, and one runner that starts them one by one.

Open `runner/runner.py` first, then `runner/plan.py` (which cell next, and when the sweep ends). A cell's own markers
are the truth about it; the sweep's journal says in which order they came. `launch.py` runs in the user's terminal.
"""
