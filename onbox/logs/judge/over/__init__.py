"""Whether the run is over, where its counter and its last lines are known. Pure.

By where the counters stand (`by_counters.py`); by what the last lines say, weighed against what the counter leaves to
do (`by_words.py`); and not so where what has ended is one piece of a larger work (`larger_work.py`).
"""
