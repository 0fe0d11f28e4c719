"""Readings of the box: cgroup, disks, GPUs, processes. One resource per file: text in, record out (`parse_*`), and the
reading of the files (`read_*`, with `root` for /). Open `snapshot.py` first. Imports system and contract only.
"""
