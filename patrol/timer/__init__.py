"""When the patrol runs, and the proof that it did."""
