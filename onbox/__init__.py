"""The chain that completes itself on the box.

Open `chain/runner/runner.py` first: it is the loop that everything else serves. `contract/` holds what is on disk,
`system/` is the only code that touches the operating system. Imports nothing of the other three packages.
"""

__version__ = "0.1.0"
