"""What the patrol remembers between two ticks."""
