"""One file per kind of target: what is heard of it, and what ends the wait for it."""
