"""How a run goes, point by point: the record, the file that the runner keeps, and what is found in it."""
