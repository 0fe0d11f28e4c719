"""Who holds a run, and whether this user may carry it on."""
