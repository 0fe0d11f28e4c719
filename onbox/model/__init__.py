"""What a configuration and a run are made of, as values. Pure; imports nothing of the other rooms."""
