"""What commands and the local side take from libraries: locks (filelock) and the process table (psutil).

A runner, a keeper and what they start never import it: they live on the standard library alone
(docs/decisions/0001-standard-library-on-the-box.md).
"""
