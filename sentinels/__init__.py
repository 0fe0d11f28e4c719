"""Waits for a marker, a run, a line or an artifact, here or on boxes; reacts at once, always ends, says why.

Open `wait.py` first: the loop over all boxes. `targets.py` is what can be waited for, `judge/conditions/` what an
observation means, `judge/outcome.py` how a wait can end. `box/lookout.py` is the program that looks on the box (any
python from 3.6 on) and `box/lookout_sh.py` the same for a box without python. Imports `patrol` and `onbox`, never
`handbook`.
"""
