"""A run or a machine as text, JSON and metrics."""
