"""How the end of a log is worded: words that were learned from labelled logs, and how strongly they speak."""
