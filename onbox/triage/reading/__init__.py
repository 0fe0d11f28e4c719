"""One pass over a log: lines to faults, life signs and words of success, of which `decide` makes a verdict. Pure."""
