"""What observations mean for a wait."""
