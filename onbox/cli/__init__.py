"""The command line of every program here: its tree, its edge to the user, and the questions it may ask."""
