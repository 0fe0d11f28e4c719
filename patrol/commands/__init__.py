"""One command of `patrol` per file: `add` declares it, `run` does it."""
