"""One line of a log: which counters, losses and times it shows. Open `read.py` first. Pure."""
