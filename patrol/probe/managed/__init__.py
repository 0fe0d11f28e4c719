"""A run that onbox started, as a look makes it out of the files that the box sent."""
