"""Results that came home: each file against the manifest, and each loaded once. Read `check.py` first, `kinds.py` has
the table of file kinds. Nothing here runs what it loads: a pickle is read as a list of opcodes.
"""
