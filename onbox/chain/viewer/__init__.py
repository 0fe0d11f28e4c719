"""A chain as its user watches it on a terminal."""
