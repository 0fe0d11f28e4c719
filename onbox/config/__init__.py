"""onbox.toml: read, checked with every error at once, and written for a beginner."""
