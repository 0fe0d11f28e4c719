"""What must hold before a stage starts, and before it counts as done."""
