"""A stage's command: what it is, what it needs, and the keeper that runs it."""
