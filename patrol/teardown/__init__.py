"""Whether a rented box may be given back: what has to hold (`conditions.py`), and what the provider's words mean
(`profile.py`). Nothing here calls a provider.
"""
