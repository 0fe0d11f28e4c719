"""What a run is: raw parts, as any reader brings them, to facts, state and the next step. Pure; the one place for it.

Open `engine_word.py` first: an engine's word on a job, weighed against what the run directory says. `jobs.py` folds the
journal into the jobs of a run. Whoever shows a run asks here: the status, the patrol, the sentinel and the handbook.
Imports `backends.base`, `triage.classes` and `contract` only.
"""
