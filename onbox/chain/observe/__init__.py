"""What the runner sees while a stage runs, and why an attempt failed."""
