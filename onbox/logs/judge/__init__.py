"""Which of a log's counters is the run's own, and whether it says that it is done. Open `choose.py` first. Pure."""
