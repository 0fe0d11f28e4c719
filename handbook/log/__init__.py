"""The logbook of a run."""
