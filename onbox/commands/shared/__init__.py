"""What several commands need: the project they are about, and output that may be cut off."""
