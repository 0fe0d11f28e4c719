"""The files that a stage must leave, found and compared."""
