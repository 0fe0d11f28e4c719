"""Deliver what is due: HTTP, mail, and what came of it."""
