"""The detached process that brings a chain to its end, attempt after attempt."""
