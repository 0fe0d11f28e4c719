"""The connections that a wait listens to."""
