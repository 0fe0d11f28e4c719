"""Iris as a back end."""
