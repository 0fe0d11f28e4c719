"""The rows of the decision table, by subject."""
