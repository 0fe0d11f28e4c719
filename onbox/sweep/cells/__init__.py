"""From what a person writes to cells, and from a stage with placeholders to the stage of one cell."""
