"""How far a run is by its log, and whether it is over. Open `choose.py` first. Pure.

It asks `picking` for the run's counter, `told` and `unnamed` for what no counter shows, and `ending` for what the last
lines say; `over` decides what of that holds for the run.
"""
