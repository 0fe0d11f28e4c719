"""Stages as jobs of an engine such as Slurm."""
