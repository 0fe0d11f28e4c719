"""Back ends: engines that run a chain's jobs. The chain is handed to them; none of them is re-implemented.

Open `base.py` first: the protocol and its words. `table.py` knows which there are. For each engine one module holds
its argv or its requests and the parsers of what it answers (both pure), and a small class that joins them.
Imports `contract` and `system` only.
"""
