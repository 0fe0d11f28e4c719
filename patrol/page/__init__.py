"""`patrol report`: what the patrol remembers, as one HTML page that needs nothing else."""
