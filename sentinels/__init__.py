"""Waits for a marker, a run, a line or an artifact, here or on boxes; reacts at once, always ends, says why.

Open `wait.py` first: the loop over all boxes. `targets.py` is what can be waited for, `judge.py` what an observation
means, `outcome.py` how a wait can end. `lookout.py` is the program that looks on the box (any python from 3.6 on) and
`lookout_sh.py` the same for a box without python. May import `patrol` and `onbox`; never `handbook`.
"""
