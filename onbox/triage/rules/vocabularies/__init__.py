"""Finite lists of names by which the layers below a program report failures, as their documentation gives them. Pure.

A layer writes its names in a form of its own; each list says what a name means. So a name counts as far as its layer
defines it, whether or not a log with it has been seen.
"""
