"""Reading logs at the cost of what is new, never of the file's size."""
