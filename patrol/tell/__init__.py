"""What the patrol tells people and monitors by itself."""
