"""What a log is, before any rule reads it: lines without what launchers put around them (`lines.py`), who wrote a line
(`writers.py`), the numbers that count up in it (`counts.py`), the runs that share a file (`segments.py`), and whether
somebody went on after a certain line (`life.py`). Pure. Triage and progress both read it.
"""
