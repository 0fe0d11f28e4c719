"""The page: its facts, its text, and where it is written."""
