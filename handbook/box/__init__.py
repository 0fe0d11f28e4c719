"""A run's records as they come from its box."""
