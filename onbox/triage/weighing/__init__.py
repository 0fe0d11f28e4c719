"""What counts of what was read, and which of it explains the end. Pure."""
