"""Ray as a back end."""
