"""The configuration as the local side means it."""
