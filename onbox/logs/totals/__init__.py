"""Which number of a log's head is the end of what the log counts: learned from labelled logs."""
