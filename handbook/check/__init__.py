"""What a run has promised, and whether it may be sealed."""
