"""The detached process: it starts cells, sees how they end, and goes on until none is open."""
