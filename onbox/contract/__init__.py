"""What is on disk and on the wire: names, records, states, exit codes.

Standard library only, no I/O, imported by every layer. Open `events.py` first, then `paths.py`.
"""
