"""How a box is reached: one bounded conversation over ssh, and why one failed."""
