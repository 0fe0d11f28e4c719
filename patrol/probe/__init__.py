"""The probe: one POSIX-sh script for a box's `sh -s`, and what its answer means.

Open `sections.py` first: the table of sections. Each topic file holds a section's shell text beside its parser;
`plan.py` chooses sections and values for a box, `script.py` joins them, `frames.py` takes the answer apart, `take.py`
does it all. Only `take.py` and `local_files.py` touch anything; the rest is pure.
"""
