"""What a tick says: lines for people, formats for machines."""
