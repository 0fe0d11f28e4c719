"""Slurm as a back end."""
