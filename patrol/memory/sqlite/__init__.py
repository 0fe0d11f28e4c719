"""The SQLite file of the memory: made, brought up to date, set aside, and what a tick reads and writes there."""
