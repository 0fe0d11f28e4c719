"""What a patrol may do to a run, where the configuration allows it."""
