"""What goes wrong in a run while it runs, found in its points. Pure."""
