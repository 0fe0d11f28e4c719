"""Whether the run is over, where its counter and its last lines are known. Pure."""
