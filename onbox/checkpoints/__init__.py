"""Checkpoints: how frameworks lay them out, whether one is whole, which one a resumed stage finds."""
