"""One file per table of onbox.toml: from plain data to values, or errors with their place."""
