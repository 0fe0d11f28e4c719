"""One file per command of `sentinel`, or group of small ones: `add` declares it, `run` does it."""
