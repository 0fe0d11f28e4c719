"""What a log's last lines say of an end, whatever its counters show. Pure.

That all is done, what came out, that it was stopped early; or that something is left, or has failed. Open `closing.py`
first; `closing_line.py` says what one line alone means. Nothing here knows which counter is the run's: whether such
words hold for it is decided in `over`.
"""
