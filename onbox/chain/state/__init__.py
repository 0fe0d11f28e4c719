"""What lies in a run directory, and what it means for the next step."""
