"""The only code in this package that touches the operating system: files, locks, processes, clock.

Standard library only, imports nothing of ours. Open `files.py` for how state becomes durable, `process.py` for how
a process is told from another one of the same pid.
"""
