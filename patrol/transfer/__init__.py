"""Files between here and a box: listed, brought or sent, gone on with after a cut, and entered into a manifest.

Read `pull.py` first. What a box answers is never believed: each name it tells is checked in `names.py` before a file is
opened for it. Imports `patrol.ssh` and what is below it.
"""
